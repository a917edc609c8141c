"""Lines of `stat` and `ls` from over there."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.remote.stat_lines import read_line


class TestLinesOfLs:
    now = 1_700_000_000.0  # 14 November 2023

    @pytest.mark.parametrize(
        ("line", "size", "moment"),
        [
            (b" 1234 -rw-r--r--  1 0  0  567 Nov 14 22:13 ./train.log", 567, "2023-11-14 22:13"),
            (b"1 -rw-r--r-- 1 1000 1000 0 Dec 24 08:00 x", 0, "2022-12-24 08:00"),
            (b"1 -rw-r--r--. 1 0 0 99999999999 Feb  9  2019 ./a\nb", 99_999_999_999,
             "2019-02-09 00:00"),
            (b"7 crw--w---- 1 0 5 136, 1 Nov 14 22:13 /dev/pts/1", 1, "2023-11-14 22:13"),
        ],
    )  # fmt: skip
    def test_are_read(self, line: bytes, size: int, moment: str) -> None:
        entry = read_line(line, self.now)
        assert entry is not None
        assert entry.size == size
        assert time.strftime("%Y-%m-%d %H:%M", time.gmtime(entry.modified)) == moment

    def test_lines_about_nothing(self) -> None:
        assert read_line(b"-", self.now) is None
        assert read_line(b"ls: cannot access 'x': No such file", self.now) is None

    @given(line=st.binary(max_size=80))
    def test_no_line_breaks_it(self, line: bytes) -> None:
        read_line(line, self.now)


def test_lines_of_stat_are_read() -> None:
    entry = read_line(b"81a4 567 1700000000 65024 1234", 0)
    assert entry is not None
    assert entry.is_file
    assert (entry.size, entry.modified, entry.identity) == (567, 1_700_000_000, (65024, 1234))

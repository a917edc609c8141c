from __future__ import annotations

import tracemalloc
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.sources.line_assembler import Line
from mltd.runs.sources.line_index import LineIndex, RecentLines, file_reader

TEXTS = st.lists(st.binary(max_size=12).map(lambda text: text.replace(b"\n", b"")), max_size=40)


def reader_of(data: bytes) -> LineIndex:
    return LineIndex(lambda offset, length: data[offset : offset + length], stride_bytes=16)


def expected_lines(data: bytes) -> list[Line]:
    texts = data.split(b"\n")
    if not texts[-1]:
        texts.pop()
    lines, offset = [], 0
    for number, text in enumerate(texts, 1):
        lines.append(Line(text, 0, number, offset))
        offset += len(text) + 1
    return lines


@given(TEXTS, st.booleans(), st.integers(1, 50), st.integers(-1, 45), st.integers(0, 10))
@settings(deadline=None)
def test_any_lines_are_read_back(
    texts: list[bytes], is_open: bool, chunk: int, first: int, count: int
) -> None:
    data = b"\n".join(texts) + (b"" if is_open else b"\n")
    index = reader_of(data)
    for start in range(0, len(data), chunk):
        index.extend(data[start : start + chunk])
    lines = expected_lines(data)
    assert index.lines == len(lines)
    assert index.size == len(data)
    start = max(1, first) - 1
    assert index.read_lines(first, count) == lines[start : start + count]


def test_entries_are_few_and_their_number_has_a_limit() -> None:
    data = b"x\n" * 5000
    index = LineIndex(
        lambda offset, length: data[offset : offset + length], stride_bytes=100, most_entries=16
    )
    for start in range(0, len(data), 333):
        index.extend(data[start : start + 333])
    assert 4 <= index.entries <= 16
    assert index.lines == 5000
    assert index.read_lines(4999, 5) == [Line(b"x", 0, 4999, 9996), Line(b"x", 0, 5000, 9998)]


def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    line = b"step 1 loss 0.5 " * 6 + b"\n"
    block = line * 10_000
    index = LineIndex(file_reader(path))
    tracemalloc.start()
    with path.open("wb") as file:
        for _ in range(30):
            file.write(block)
            index.extend(block)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert index.lines == 300_000
    assert grown < 50_000
    assert index.read_lines(299_999, 1) == [Line(line[:-1], 0, 299_999, 299_998 * len(line))]


def test_an_overlong_line_is_clipped_and_the_next_one_found(tmp_path: Path) -> None:
    path = tmp_path / "log"
    data = b"first\n" + b"x" * 1_000_000 + b"\nlast\n"
    path.write_bytes(data)
    index = LineIndex(file_reader(path))
    index.extend(data)
    lines = index.read_lines(1, 3, longest_line=100)
    assert [len(line.data) for line in lines] == [5, 100, 4]
    assert lines[1].clipped == 999_900
    assert lines[2] == Line(b"last", 0, 3, 1_000_007)


def test_a_replaced_or_missing_file_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\nb\n")
    status = path.stat()
    index = LineIndex(file_reader(path, identity=(status.st_dev, status.st_ino)))
    index.extend(b"a\nb\n")
    assert len(index.read_lines(1, 5)) == 2
    path.rename(tmp_path / "log.1")
    assert index.read_lines(1, 5) == []
    path.write_bytes(b"c\nd\n")
    assert index.read_lines(1, 5) == []


def test_a_file_that_shrank_gives_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\n")
    index = LineIndex(file_reader(path))
    index.extend(b"a\nb\nc\n")
    assert index.read_lines(1, 5) == [Line(b"a", 0, 1, 0)]
    assert index.read_lines(3, 1) == []


def test_recent_lines_keep_the_newest_within_their_limit() -> None:
    recent = RecentLines(max_bytes=2000)
    assert recent.read_lines(1, 3) == []
    for number in range(1, 101):
        recent.append(Line(b"x" * 50, 0, number, 51 * (number - 1)))
    assert recent.oldest == 91
    assert [line.number for line in recent.read_lines(90, 3)] == [91, 92]
    assert [line.number for line in recent.read_lines(99, 9)] == [99, 100]
    assert recent.read_lines(1, 5) == []
    recent.append(Line(b"y" * 9000, 0, 101, 0))
    assert [line.number for line in recent.read_lines(1, 200)] == [101]

"""A remote log of which the end is here first, and then what is before it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.runs.remote.names import VARIABLE
from mltd.runs.sources.text_file import TextFile
from mltd.tui.log.open_log import OpenLog

BLOCK = 64 << 10
LINES = [b"step %06d loss 1.0" % number for number in range(20_000)]
TEXT = b"\n".join(LINES) + b"\n"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    mirror = tmp_path / "mltd-ssh-1"
    monkeypatch.setenv(VARIABLE, str(mirror))
    path = mirror / "login01:" / "train.log"
    path.parent.mkdir(parents=True)
    return path


def write(path: Path, start: int, end: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, TEXT[start:end], start)
    finally:
        os.close(descriptor)


def test_the_end_is_read_before_the_beginning_is_there(copy: Path) -> None:
    write(copy, 4 * BLOCK, len(TEXT))
    text = TextFile(copy)
    text.look()
    assert text.start == 4 * BLOCK
    assert [line.data for line in text.last_lines(2)] == LINES[-2:]
    assert text.is_partial
    assert "copied" in text.note


def test_what_is_before_it_follows_without_a_new_beginning(copy: Path) -> None:
    write(copy, 4 * BLOCK, len(TEXT))
    text = TextFile(copy)
    text.look()
    write(copy, 2 * BLOCK, 4 * BLOCK)
    text.look()
    assert (text.start, text.generation) == (2 * BLOCK, 1)
    write(copy, 0, 2 * BLOCK)
    text.look()
    assert (text.start, text.generation, text.note) == (0, 1, "")
    assert [line.data for line in text.lines_from(0, 1)] == LINES[:1]


def test_lines_have_numbers_only_when_all_before_them_are_there(copy: Path) -> None:
    write(copy, 4 * BLOCK, len(TEXT))
    log = OpenLog(str(copy))
    window = log.at_end(3)
    assert [line.number for line in window.lines] == [None] * 3
    assert not log.work()
    write(copy, 0, 4 * BLOCK)
    after = log.at_end(3)
    assert after.completes(window)
    while log.work():
        pass
    numbers = [line.number for line in log.at_end(3).lines]
    assert numbers == [len(LINES) - 2, len(LINES) - 1, len(LINES)]
    log.close()


def test_scrolling_up_does_not_end_at_what_is_here(copy: Path) -> None:
    write(copy, 4 * BLOCK, len(TEXT))
    log = OpenLog(str(copy))
    assert not log.around(4 * BLOCK, 10, 10).reaches_start
    log.close()

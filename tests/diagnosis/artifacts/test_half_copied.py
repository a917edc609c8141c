"""A remote file whose end is here before its beginning: nobody is told wrong line numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mltd.diagnosis.artifacts import ArtifactBook, ArtifactError
from mltd.diagnosis.tools import ToolBox
from mltd.runs.ingest import read_file
from mltd.runs.remote.names import VARIABLE
from mltd.runs.run import Run

BLOCK = 64 << 10
TEXT = b"".join(b"step %06d loss 1.0\n" % number for number in range(20_000))
Look = Callable[[ArtifactBook], object]


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    mirror = tmp_path / "mltd-ssh-1"
    monkeypatch.setenv(VARIABLE, str(mirror))
    path = mirror / "login01:" / "train.log"
    path.parent.mkdir(parents=True)
    write(path, 4 * BLOCK)
    return path


def write(path: Path, start: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, TEXT[start:], start)
    finally:
        os.close(descriptor)


def run_of(path: Path) -> Run:
    run = Run("train")
    read_file(run, str(path))
    return run


@pytest.mark.parametrize(
    "look",
    [
        lambda book: book.lines("train.log", 19_000, 19_001),
        lambda book: book.lines("train.log", -5, -1),
        lambda book: book.search("train.log", "step 019000"),
    ],
    ids=["lines", "end", "search"],
)
def test_lines_are_counted_only_once_all_is_here(copy: Path, look: Look) -> None:
    book = ArtifactBook({"run1": run_of(copy)})
    with pytest.raises(ArtifactError, match="still being copied"):
        look(book)
    write(copy, 0)
    look(book)
    assert [line.number for line in book.search("train.log", "step 019000").lines] == [19_001]


def test_a_file_of_which_nothing_is_here_is_still_being_copied(copy: Path) -> None:
    run = run_of(copy)
    copy.unlink()
    with copy.open("wb") as file:
        file.truncate(len(TEXT))
    with pytest.raises(ArtifactError, match="still being copied"):
        ArtifactBook({"run1": run}).lines("train.log", 1, 2)


def test_the_tools_say_so(copy: Path) -> None:
    run = run_of(copy)
    box = ToolBox(ArtifactBook({"run1": run}), {"run1": run}, {})
    for name, arguments in (
        ("grep", {"artifact": "run1/train.log", "pattern": "loss"}),
        ("read_lines", {"artifact": "run1/train.log"}),
    ):
        result = box.call(name, arguments)
        assert result.is_error
        assert "still being copied" in result.text
        assert "try again" in result.text

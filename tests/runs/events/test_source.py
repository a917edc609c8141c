"""The code around the failing frame, shown only where that is safe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.runs.event import Event, EventKind, Frame
from mltd.runs.events import source_lines


def event_at(*frames: tuple[str, int]) -> Event:
    found = tuple(Frame(file, line, "f") for file, line in frames)
    return Event(EventKind.EXCEPTION, "x", 1, frames=found)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 21)))
    return path


def test_three_lines_on_either_side_are_kept(script: Path) -> None:
    event = event_at((str(script), 10))
    source_lines(event)
    (excerpt,) = event.source.values()
    assert list(event.source) == [f"{script}:10"]
    assert [line.split()[-1] for line in excerpt.splitlines()] == [str(n) for n in range(7, 14)]
    assert [line for line in excerpt.splitlines() if line.startswith(">")] == [">    10 line 10"]


def test_relative_names_are_looked_up_beside_the_log(script: Path) -> None:
    event = event_at(("train.py", 1))
    assert source_lines(event, [script.parent / "logs", script.parent])["train.py:1"]


def test_own_code_is_preferred_to_libraries(script: Path, tmp_path: Path) -> None:
    library = tmp_path / "site-packages" / "torch.py"
    library.parent.mkdir()
    library.write_text("library\n" * 20)
    event = event_at((str(script), 3), (str(library), 5))
    assert list(source_lines(event)) == [f"{script}:3"]
    alone = event_at((str(library), 5))
    assert list(source_lines(alone)) == [f"{library}:5"]


def test_a_log_cannot_make_us_read_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("private\n")
    (tmp_path / "link.py").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    nested = tmp_path / "logs"
    nested.mkdir()
    (tmp_path / "outside.py").write_text("x\n")
    event = event_at(
        (str(secret), 1),
        (str(tmp_path / "link.py"), 1),
        (str(tmp_path / "pipe.py"), 1),
        (str(tmp_path / "folder.py"), 1),
        ("../outside.py", 1),
        ("nul\0.py", 1),
        ("<string>", 1),
        ("missing.py", 1),
    )
    assert source_lines(event, [nested]) == {}


def test_lines_that_do_not_exist_and_huge_files_are_left_out(script: Path, tmp_path: Path) -> None:
    huge = tmp_path / "huge.py"
    huge.write_bytes(b"x\n" * 1_500_000)
    event = event_at((str(script), 99), (str(script), 0), (str(huge), 1))
    assert source_lines(event) == {}

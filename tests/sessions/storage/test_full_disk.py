"""A disk that is really full, and a limit that the system really enforces."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.sessions.errors import StorageError
from mltd.sessions.storage.store import SessionStore

from .making import HeldClock, States, note

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _fill(place: Path) -> Path:
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 512):
                pass
        except OSError:
            return ballast
    return ballast


def test_a_full_disk_loses_nothing_and_is_left_by_itself(small: Path) -> None:
    clock, states = HeldClock(), States()
    store = SessionStore(small / "sessions", clock=clock)
    session = store.create("x")
    session.on_saving = states
    session.do(note(1))
    states.wait_for("saved")
    ballast = _fill(small)
    # Longer than what is left of its last page: the write stops in the middle.
    for number in (2, 3):
        session.do(note(number, "y" * 9000))
    told = states.wait_for("unsaved", 2)
    assert "no space left on device" in told.problem
    assert [one.id for one in store.load(session.path.name).session.notes] == ["N1"]
    data = (session.path / "journal.jsonl").read_bytes()
    assert data.endswith(b"}\n"), "what did not fit was cut off"
    ballast.unlink()
    clock.advance(1)
    states.wait_for("saved")
    assert session.close() == []
    assert store.load(session.path.name).session == session.session


def test_from_a_full_disk_one_can_go_elsewhere(small: Path, tmp_path: Path) -> None:
    store = SessionStore(small / "sessions")
    session = store.create("x")
    session.do(note(1))
    assert session.flush()
    _fill(small)
    session.do(note(2, "y" * 9000))
    assert not session.flush()
    place = session.save_elsewhere(tmp_path / "roomy")
    session.do(note(3))
    assert session.flush()
    assert session.close() == []
    assert [one.id for one in store.load(place).session.notes] == ["N1", "N2", "N3"]


def test_on_a_full_disk_no_session_is_created_and_nothing_left_behind(small: Path) -> None:
    ballast = _fill(small)
    store = SessionStore(small / "sessions")
    with pytest.raises(StorageError, match="no space left on device"):
        store.create("x")
    ballast.unlink()
    assert not list(store.folder.glob("*/*"))
    store.create("x").close()


def test_a_session_on_a_full_disk_opens_and_is_saved_when_there_is_room(small: Path) -> None:
    clock, states = HeldClock(), States()
    store = SessionStore(small / "sessions", clock=clock)
    with store.create("x") as first:
        first.do(note(1))
    ballast = _fill(small)
    session = store.open(first.path.name)
    session.on_saving = states
    session.do(note(2, "y" * 9000))
    states.wait_for("unsaved")
    ballast.unlink()
    clock.advance(1)
    states.wait_for("saved")
    assert session.close() == []
    assert len(store.load(first.path.name).session.notes) == 2


def test_on_a_full_disk_a_session_can_be_deleted(small: Path) -> None:
    store = SessionStore(small / "sessions")
    with store.create("x") as session:
        session.do(note(1))
    _fill(small)
    store.delete(session.path.name)
    assert store.summaries() == []


LIMITED = """
import resource, sys
from pathlib import Path
from mltd.sessions.actions.records import PutNote
from mltd.sessions.storage.store import SessionStore

store = SessionStore(Path(sys.argv[1]))
session = store.create("x")
session.do(PutNote(id="N1", text="x"))
assert session.flush()
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, most))
session.do(PutNote(id="N2", text="y" * 3000))
session.do(PutNote(id="N3", text="z"))
assert not session.flush()
assert session.saving.state == "unsaved" and session.saving.pending == 2, session.saving
assert "file too large" in session.saving.problem, session.saving
assert session.path.joinpath("journal.jsonl").read_bytes().endswith(b"}\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
assert session.flush()
assert session.close() == []
assert store.load(session.path.name).session == session.session
"""


def test_a_limit_on_the_size_of_files_is_survived(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_read_only_file_system_is_looked_at(small: Path) -> None:
    store = SessionStore(small / "sessions")
    with store.create("x") as session:
        session.do(note(1))
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    opened = store.open(session.path.name)
    assert "read-only file system" in opened.why_read_only
    assert len(opened.session.notes) == 1
    assert store.summaries()[0].problem == ""
    with pytest.raises(StorageError, match="read-only file system"):
        store.create("y")
    assert os.listdir(session.path)

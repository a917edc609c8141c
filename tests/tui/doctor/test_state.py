"""The state directory: really written to, private, and left as it was."""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

import pytest

from mltd.tui.doctor.areas import clock, state
from mltd.tui.doctor.line import Line, State
from mltd.tui.doctor.surroundings import Surroundings

from .scene import in_namespace, only, states


def look(folder: Path) -> list[Line]:
    return list(state.directory(Surroundings(state=folder)))


@pytest.fixture(autouse=True)
def _lasting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary folders are in memory on some machines, which is not what is asked here."""
    monkeypatch.setattr(state, "file_system_type", lambda _: "ext4")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mltd"
    made.mkdir(mode=0o700)
    return made


def test_a_private_directory_is_fine_and_stays_empty(folder: Path) -> None:
    written, agrees = look(folder)
    assert (written.area, written.state) == ("state", State.OK)
    assert "can be written" in written.fact
    assert " free" in written.fact
    assert (agrees.area, agrees.state) == ("clock", State.OK)
    assert list(folder.iterdir()) == []


def test_a_directory_that_is_not_there_yet_is_not_left_behind(tmp_path: Path) -> None:
    line = look(tmp_path / "a" / "b" / "mltd")[0]
    assert line.state is State.OK
    assert "which the first session makes" in line.fact
    assert list(tmp_path.iterdir()) == []


def test_the_trial_file_is_private_and_synced(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    sync = os.fsync

    def note(handle: int) -> None:
        found = os.fstat(handle)
        seen.append((stat.S_IMODE(found.st_mode), found.st_size))
        sync(handle)

    monkeypatch.setattr(os, "fsync", note)
    look(folder)
    assert seen == [(0o600, state.TRIAL_BYTES)]


def test_a_directory_that_others_may_read_is_noticed_but_not_changed(folder: Path) -> None:
    folder.chmod(0o755)
    line = look(folder)[0]
    assert line.state is State.WARNING
    assert "0755" in line.fact
    assert line.advice == f"`chmod 700 {folder}`"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_directory_of_somebody_else_is_a_problem(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    line = only(state.modes(folder))
    assert line.state is State.PROBLEM
    assert "another user" in line.fact


def test_a_file_in_its_place_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "mltd").touch()
    lines = look(tmp_path / "mltd")
    assert states(lines) == [State.PROBLEM, State.PROBLEM]
    assert "is no directory" in lines[0].fact
    assert only(look(tmp_path / "mltd" / "deeper")).state is State.PROBLEM


@pytest.mark.parametrize(
    ("code", "word"), [(errno.EDQUOT, "quota -s"), (errno.EACCES, "make it yours")]
)
def test_what_keeps_it_from_being_written_has_a_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, word: str
) -> None:
    def fail(_handle: int) -> None:
        raise OSError(code, os.strerror(code))

    # Network file systems tell about a quota when the data is sent, not when it is written.
    monkeypatch.setattr(os, "fsync", fail)
    line = only(look(folder))
    assert line.state is State.PROBLEM
    assert os.strerror(code) in line.fact
    assert word in line.advice
    assert list(folder.iterdir()) == []


MOUNTED = """
import subprocess, sys
from pathlib import Path
from mltd.tui.doctor.areas.state import directory
from mltd.tui.doctor.surroundings import Surroundings
place, options = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
for line in directory(Surroundings(state=Path(place, "mltd"))):
    print(line.state, line.fact, "->", line.advice)
print(sorted(path.name for path in Path(place).iterdir()))
"""


@pytest.mark.parametrize(
    ("options", "said", "advice"),
    [
        ("size=64k", "No space left on device", "make room there"),
        ("ro", "Read-only file system", "to a place that can be written"),
    ],
)
def test_a_real_full_or_read_only_file_system(
    tmp_path: Path, options: str, said: str, advice: str
) -> None:
    told, left = in_namespace(MOUNTED, str(tmp_path), options).splitlines()
    assert told.startswith(f"problem {tmp_path}/mltd cannot be written: {said} -> ")
    assert advice in told
    assert left == "[]"


def test_sessions_in_memory_are_not_kept(tmp_path: Path) -> None:
    told = in_namespace(MOUNTED, str(tmp_path), "size=1g")
    assert told.startswith("warning")
    assert "on tmpfs: sessions are lost at the next boot" in told


def test_slow_saving_is_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "SLOW", -1.0)
    line = look(folder)[0]
    assert line.state is State.WARNING
    assert "saving takes" in line.fact


def test_what_a_killed_doctor_left_is_removed(folder: Path) -> None:
    old, new = folder / ".doctor-old", folder / ".doctor-new"
    old.touch()
    new.touch()
    os.utime(old, (time.time() - 600,) * 2)
    look(folder)
    assert list(folder.iterdir()) == [new]


@pytest.mark.parametrize(
    ("stamp", "state_", "word"),
    [
        (101.0, State.OK, "agree"),
        (99.0, State.OK, "agree"),
        (162.5, State.WARNING, "1 min ahead of us"),
        (80.0, State.WARNING, "20 s behind us"),
    ],
)
def test_the_clocks_are_compared(stamp: float, state_: State, word: str) -> None:
    line = clock.skew(100.0, stamp, 102.0)
    assert line.state is state_
    assert word in line.fact
    assert ("NTP" in line.advice) is (state_ is State.WARNING)

"""Paths: there, readable, on which file system, and followed how."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mltd.runs.sources.mounts import file_system_type
from mltd.tui.doctor.areas import files, room
from mltd.tui.doctor.line import Line, State
from mltd.tui.doctor.surroundings import Surroundings
from tests.runs.sources.sshd_server import mounted_sshfs, running_sshd

from .scene import in_namespace, only

AROUND = Surroundings()


def look(path: str | Path) -> list[Line]:
    return list(files.look(AROUND, str(path)))


def test_a_local_file_system_is_followed_by_inotify(tmp_path: Path) -> None:
    line = look(tmp_path)[0]
    if "limit" in line.fact:
        pytest.skip(line.fact)
    kind = file_system_type(tmp_path)
    assert line.fact == f"{tmp_path} is on {kind}: followed by inotify and a look every 5 s"
    assert line.state is State.OK


def test_the_interval_of_the_configuration_file_holds(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.touch()
    line = next(files.look(Surroundings(poll_seconds=3), str(log)))
    assert "looked at every 3 s, as polling was asked for" in line.fact


def test_a_real_network_mount_is_polled(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "sshd").mkdir()
    with (
        running_sshd(tmp_path / "sshd") as server,
        mounted_sshfs(server, tmp_path / "far", tmp_path / "mount") as mount,
    ):
        line = look(mount)[0]
    assert line.state is State.OK
    assert "fuse.sshfs: looked at every 0.25 to 2 s, as inotify is silent" in line.fact
    assert "HOST:PATH" in line.advice


def test_what_cannot_be_followed_is_a_problem(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, fact in {
        f"{tmp_path}/nothing": "does not exist",
        f"{tmp_path}/pipe": "is a named pipe",
        "cluster:/scratch/run": "is not on this machine",
        "ssh://cluster/run": "is not on this machine",
        "a\0b": "is no path",
    }.items():
        line = only(look(path))
        assert line.state is State.PROBLEM
        assert fact in line.fact
        assert line.advice


def test_what_may_not_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "may not be listed" in only(look(tmp_path)).fact
    assert "may not be read" in only(look(tmp_path / "log")).fact


def test_a_removed_current_directory_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    assert str(gone) in look(".")[0].fact
    gone.rmdir()
    assert only(look(".")).fact == "the current directory was removed"


def test_a_slow_file_system_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SLOW", -1.0)
    slow = look(tmp_path)[1]
    assert slow.state is State.WARNING
    assert "to answer" in slow.fact


def test_a_file_from_the_future_betrays_a_wrong_clock(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.touch()
    assert all(line.area == "files" for line in look(tmp_path))
    os.utime(log, (time.time() + 300,) * 2)
    for path in (tmp_path, log):
        line = look(path)[-1]
        assert (line.area, line.state) == ("clock", State.WARNING)
        assert line.fact.startswith("train.log was changed 4 min 5")


FULL = """
import subprocess, sys
from mltd.tui.doctor.areas.files import look
from mltd.tui.doctor.surroundings import Surroundings
size = sys.argv[2]
subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", sys.argv[1]], check=True)
for line in look(Surroundings(), sys.argv[1]):
    print(line.state, line.fact)
"""


def test_a_file_system_with_little_room_is_noticed(tmp_path: Path) -> None:
    told = in_namespace(FULL, str(tmp_path), "size=1m")
    assert f"warning the file system of {tmp_path} has only 1.0 MB left" in told
    told = in_namespace(FULL, str(tmp_path), "nr_inodes=20")
    assert f"warning the file system of {tmp_path} is full: 19 more files fit" in told


def test_file_systems_that_the_kernel_makes_up_are_never_full() -> None:
    assert list(room.low_space("files", "/proc")) == []


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0 bytes"), (1500, "1.5 kB"), (12 * 2**30, "12 GB"), (2**40, "1.0 TB")],
)
def test_sizes_in_words(size: int, said: str) -> None:
    assert room.shown(size) == said


def test_every_path_is_looked_at_once() -> None:
    assert [check.name for check in files.checks(("a", "b", "a"))] == ["a", "b"]

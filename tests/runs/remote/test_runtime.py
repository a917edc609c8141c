"""The directory for sockets: private, short, and never one that somebody else has made."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.remote import runtime
from mltd.runs.remote.problems import LinkError, LinkKind
from mltd.runs.remote.runtime import runtime_folder, socket_room


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A private directory with a short name, wherever tests are run; no other is used."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        monkeypatch.setattr(runtime, "LAST_RESORT", Path(folder, "last"))
        yield Path(folder)


def own(parent: Path) -> Path:
    return parent / f"mltd-tui-{os.geteuid()}"


def shared(parent: Path) -> Path:
    """A directory as /tmp is."""
    parent.mkdir()
    parent.chmod(0o1777)
    return parent


def test_the_runtime_directory_of_the_system_is_taken(short: Path) -> None:
    before = os.umask(0o277)
    try:
        folder = runtime_folder({"XDG_RUNTIME_DIR": str(short), "TMPDIR": "/var/tmp"})
    finally:
        os.umask(before)
    assert folder == short / "mltd-tui"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert runtime_folder({"XDG_RUNTIME_DIR": str(short)}) == folder


@pytest.mark.parametrize("named", ["", "relative", "/nowhere/at/all", "/tmp", "/etc/hostname"])
def test_without_one_a_directory_among_the_passing_ones_is_made(short: Path, named: str) -> None:
    passing = shared(short / "t")
    folder = runtime_folder({"XDG_RUNTIME_DIR": named, "TMPDIR": str(passing)})
    assert folder == own(passing)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_runtime_directory_that_others_may_look_into_is_not_taken(short: Path) -> None:
    last = shared(short / "last")
    short.chmod(0o750)
    assert runtime_folder({"XDG_RUNTIME_DIR": str(short)}) == own(last)


def test_a_runtime_directory_of_somebody_else_is_not_taken(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As `su` leaves it behind.
    monkeypatch.setattr(os, "geteuid", lambda: short.stat().st_uid + 1)
    with pytest.raises(LinkError, match=r"is not yours"):
        runtime_folder({"XDG_RUNTIME_DIR": str(short)})


def test_a_long_name_is_passed_over(short: Path) -> None:
    last = shared(short / "last")
    (short / ("x" * 80)).mkdir(mode=0o700)
    long = short / ("x" * 80)
    assert runtime_folder({"XDG_RUNTIME_DIR": str(long), "TMPDIR": str(long)}) == own(last)


def test_a_name_in_which_ssh_would_read_a_variable_is_passed_over(short: Path) -> None:
    last = shared(short / "last")
    (odd := short / "${HOME}").mkdir(mode=0o700)
    assert runtime_folder({"XDG_RUNTIME_DIR": str(odd)}) == own(last)


def test_the_longest_name_that_is_allowed_takes_a_socket(short: Path) -> None:
    room = socket_room(short / "mltd-tui") - 1
    (parent := short / ("x" * room)).mkdir(mode=0o700)
    folder = runtime_folder({"XDG_RUNTIME_DIR": str(parent)})
    assert socket_room(folder) == 0
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / ("s" * (runtime.NAME + runtime.SUFFIX))))


def test_a_link_that_somebody_planted_is_refused(short: Path) -> None:
    last = shared(short / "last")
    (target := short / "elsewhere").mkdir(mode=0o700)
    own(last).symlink_to(target)
    with pytest.raises(LinkError, match="not a directory; remove it") as problem:
        runtime_folder({})
    assert problem.value.kind is LinkKind.CONFIGURATION
    assert not problem.value.may_pass
    assert "XDG_RUNTIME_DIR" in problem.value.hint


def test_a_file_in_its_place_is_refused(short: Path) -> None:
    own(shared(short / "last")).touch()
    with pytest.raises(LinkError, match="not a directory"):
        runtime_folder({})


def test_a_directory_that_others_may_look_into_is_refused(short: Path) -> None:
    (folder := own(shared(short / "last"))).mkdir()
    folder.chmod(0o755)
    with pytest.raises(LinkError, match="chmod 700"):
        runtime_folder({})


def test_a_directory_of_somebody_else_is_refused(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give directories away")
    (folder := own(shared(short / "last"))).mkdir(mode=0o700)
    os.chown(folder, 12345, -1)
    with pytest.raises(LinkError, match="belongs to another user"):
        runtime_folder({})


def test_a_place_where_others_could_replace_it_is_refused(short: Path) -> None:
    shared(short / "last").chmod(0o777)
    with pytest.raises(LinkError, match="others may replace"):
        runtime_folder({})


def test_without_any_place_all_reasons_are_told(short: Path) -> None:
    with pytest.raises(LinkError) as problem:
        runtime_folder({"XDG_RUNTIME_DIR": str(short / "gone"), "TMPDIR": "/" + "x" * 90})
    assert "No such file or directory" in str(problem.value)
    assert "too long for a socket" in str(problem.value)

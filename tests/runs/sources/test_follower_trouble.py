"""The follower when reading goes wrong: races, errors, things that are no files."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.runs.sources.fingerprint import TAIL_BYTES
from mltd.runs.sources.follower import FileFollower
from mltd.runs.sources.pieces import Piece

LONG = b"".join(b"step %6d loss %.4f\n" % (step, 1 / (step + 1)) for step in range(1000))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


@pytest.fixture
def followed(path: Path) -> Iterator[FileFollower]:
    with FileFollower(path) as subject:
        yield subject


def state_of(followed: FileFollower) -> str:
    return followed.status.state.value


def race(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something after the follower has checked the file and before it reads new bytes."""
    real = os.pread
    pending = [act]

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        if length > TAIL_BYTES and pending:
            pending.pop()()
        return real(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", pread)


def test_a_file_that_shrinks_while_it_is_read(
    path: Path, followed: FileFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(LONG[:5000])
    followed.read()
    with path.open("ab") as file:
        file.write(LONG[5000:])
    race(monkeypatch, lambda: os.truncate(path, 6000))
    pieces = followed.read()
    assert b"".join(piece.data for piece in pieces) == LONG[5000:6000]
    os.truncate(path, 3)
    assert followed.read() == [Piece(0, 6000, b"", ends=True, has_gap=True), Piece(1, 0, LONG[:3])]


def test_bytes_of_a_file_rewritten_while_it_is_read_are_not_mixed(
    path: Path, followed: FileFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(LONG[:5000])
    followed.read()
    with path.open("ab") as file:
        file.write(LONG[5000:])
    other = b"Y" * (len(LONG) + 10)
    race(monkeypatch, lambda: path.write_bytes(other))
    assert followed.read() == [Piece(0, 5000, b"", ends=True, has_gap=True), Piece(1, 0, other)]


def test_a_stale_handle_does_not_hide_the_file_that_has_the_name_now(
    path: Path, followed: FileFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"one\n")
    followed.read()
    stale = path.stat().st_ino
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        if status.st_ino == stale:
            raise OSError(errno.ESTALE, "stale")
        return status

    path.rename(path.with_suffix(".1"))
    path.write_bytes(b"two\n")
    monkeypatch.setattr(os, "fstat", fstat)
    assert followed.read() == [Piece(0, 4, b"", ends=True, has_gap=True), Piece(1, 0, b"two\n")]
    assert state_of(followed) == "following"


def test_a_read_error_is_a_status(
    path: Path, followed: FileFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"one\n")
    followed.read()

    def broken(descriptor: int, length: int, offset: int) -> bytes:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "pread", broken)
    assert followed.read() == []
    assert state_of(followed) == "unreadable"
    assert followed.status.reason == "input/output error"
    monkeypatch.undo()
    with path.open("ab") as file:
        file.write(b"two\n")
    assert followed.read() == [Piece(0, 4, b"two\n")]


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user's identity, so needs root")
def test_a_file_that_may_not_be_read_is_a_status(path: Path, followed: FileFollower) -> None:
    path.write_bytes(b"secret\n")
    path.chmod(0o600)
    os.seteuid(65534)
    try:
        assert followed.read() == []
    finally:
        os.seteuid(0)
    assert state_of(followed) == "unreadable"
    assert followed.status.reason == "permission denied"
    assert followed.read() == [Piece(0, 0, b"secret\n")]
    assert state_of(followed) == "following"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"pipe is a named pipe.*standard input"):
        FileFollower(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a directory"):
        FileFollower(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        with pytest.raises(InputError, match="is a socket"):
            FileFollower(tmp_path / "sock")
    with pytest.raises(InputError, match="is a device"):
        FileFollower("/dev/null")
    with pytest.raises(InputError, match="not a possible file name"):
        FileFollower("a\0b")


def test_a_pipe_in_the_place_of_the_file_is_not_opened(path: Path, followed: FileFollower) -> None:
    path.write_bytes(b"one\n")
    followed.read()
    path.unlink()
    os.mkfifo(path)
    assert followed.read() == []
    assert state_of(followed) == "unreadable"
    assert followed.status.reason == "it is a named pipe"
    # A writer finds no reader: nobody opened the pipe.
    with pytest.raises(OSError, match="No such device"):
        os.open(path, os.O_WRONLY | os.O_NONBLOCK)


def test_a_name_with_control_characters_is_shown_harmlessly(tmp_path: Path) -> None:
    evil = tmp_path / "\x1b[31mlog"
    evil.mkdir()
    with pytest.raises(InputError) as caught:
        FileFollower(evil)
    assert str(caught.value).isprintable()

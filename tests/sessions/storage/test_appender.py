"""Lines are on the disk or they are not there, and only in a session that is ours."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.storage.appender import Appender
from mltd.sessions.storage.creating import create_session
from mltd.sessions.storage.lock import LostError, SessionLock

Fail = Callable[[str], None]


@pytest.fixture
def place(tmp_path: Path) -> Appender:
    return create_session(tmp_path, "some-session", b"header\n")[1]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Let a call of the system fail once, and for `write` after half of the bytes."""

    def once(name: str) -> None:
        real = getattr(os, name)
        calls = 0

        def failing(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            if name == "write" and calls == 1:
                return real(args[0], bytes(args[1])[: len(args[1]) // 2])
            monkeypatch.setattr(os, name, real)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, name, failing)

    return once


def test_a_line_is_one_write_and_one_sync_before_it_counts(
    place: Appender, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("write", "fsync"):
        real = getattr(os, name)

        def noted(*args: Any, name: str = name, real: Any = real) -> Any:
            calls.append(name)
            return real(*args)

        monkeypatch.setattr(os, name, noted)
    place.append(b"one\n")
    assert calls == ["write", "fsync"]
    assert place.path.read_bytes() == b"header\none\n"


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_the_rest_of_a_failed_attempt_is_cut_off(place: Appender, fail: Fail, call: str) -> None:
    place.append(b"one\n")
    fail(call)
    with pytest.raises(OSError, match="No space"):
        place.append(b"two two two\n")
    assert place.path.read_bytes() == b"header\none\n"
    place.append(b"two two two\n")
    assert place.path.read_bytes() == b"header\none\ntwo two two\n"


def test_where_it_cannot_be_cut_off_the_next_line_begins_anew(place: Appender, fail: Fail) -> None:
    fail("write")
    fail("ftruncate")
    with pytest.raises(OSError, match="No space"):
        place.append(b"two two\n")
    assert place.path.read_bytes() == b"header\ntwo "
    place.append(b"two two\n")
    place.append(b"three\n")
    assert place.path.read_bytes() == b"header\ntwo \ntwo two\nthree\n"


def test_a_last_line_without_its_end_is_not_glued_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"header")
    lock = SessionLock(tmp_path)
    Appender(path, lock, path.stat().st_ino, 6, is_ragged=True).append(b"one\n")
    assert path.read_bytes() == b"header\none\n"


def test_nothing_is_written_after_the_session_was_taken_over(place: Appender) -> None:
    SessionLock(place.path.parent, take_over=True)
    with pytest.raises(LostError, match="taken over by pid"):
        place.append(b"one\n")
    assert place.path.read_bytes() == b"header\n"


def test_a_line_does_not_count_if_the_session_was_taken_over_meanwhile(
    place: Appender, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        monkeypatch.setattr(os, "fsync", real)
        SessionLock(place.path.parent, take_over=True)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(LostError):
        place.append(b"one\n")


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_replace, "replaced"),
        (Path.unlink, "removed"),
        (lambda path: os.truncate(path, 3), "shortened"),
    ],
)
def test_a_journal_that_is_no_longer_ours_is_not_written_to(
    place: Appender, harm: Callable[[Path], None], said: str
) -> None:
    harm(place.path)
    with pytest.raises(LostError, match=said):
        place.append(b"one\n")


def test_a_link_in_place_of_the_journal_is_not_followed(place: Appender, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    place.path.rename(victim)
    place.path.symlink_to(victim)
    with pytest.raises((LostError, OSError)):
        place.append(b"one\n")
    assert victim.read_bytes() == b"header\n"

"""A session as it is opened: read, repaired, made shorter, and ours to write to, or not."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import StorageError
from ..model.session import SCHEMA
from ..triage import Triage
from .appender import Appender, Place
from .compacting import compacted, is_long, whole_journal
from .files import Content, is_unchanged, keep_aside, read_regular, replace_durably, why
from .journal import Journal, read_journal
from .lock import HeldError, LostError, SessionLock
from .places import JOURNAL

_HOPELESS = (errno.EROFS, errno.EACCES, errno.EPERM)
ATTEMPTS = 5
"""How often a journal is read anew that a former owner has just written to."""


class Opened(NamedTuple):
    """A session, and where to write what is done to it."""

    triage: Triage
    notices: tuple[str, ...] = ()
    place: Place | None = None
    """None if it is read-only."""
    why_read_only: str = ""
    is_held: bool = False
    """Read-only because another process has it open."""
    stamp: tuple[int, int, int] = (0, 0, 0)
    """Which state of the file it is: inode, size and time of change."""


def open_to_read(folder: Path, why_read_only: str, *, is_growing: bool = False) -> Opened:
    """The session as it is on disk; nothing is written, not even a repair."""
    content, journal = _read(folder)
    # Its owner may just be about to finish the last line.
    torn = journal.torn_notice if not is_growing else ""
    notices = (*journal.notices, torn) if torn else journal.notices
    stamp = (content.inode, content.size, content.changed)
    reason = journal.why_read_only or why_read_only
    is_held = is_growing and not journal.why_read_only
    return Opened(journal.triage, notices, None, reason, is_held, stamp)


def open_to_write(folder: Path, *, take_over: bool = False) -> Opened:
    """The session with the right to write to it, or read-only with the reason."""
    content, journal = _read(folder)
    if journal.why_read_only:
        return open_to_read(folder, "")
    if _is_foreign(content, folder / JOURNAL):
        return open_to_read(folder, f"it belongs to another user (id {content.owner})")
    try:
        lock = SessionLock(folder, take_over=take_over)
    except HeldError as held:
        return open_to_read(folder, held.message, is_growing=True)
    except OSError as problem:
        if problem.errno in _HOPELESS:
            return open_to_read(folder, f"{folder} cannot be written to: {why(problem)}")
        return _later(folder, content, journal, None, problem)
    try:
        return _owned(folder, lock)
    except BaseException:
        lock.release()
        raise


class _ChangedError(Exception):
    """The journal is no longer what was read."""


def _owned(folder: Path, lock: SessionLock) -> Opened:
    """The session with the lock that is ours; read-only if it turns out to be lost."""
    try:
        for _ in range(ATTEMPTS):
            with contextlib.suppress(_ChangedError):
                return _made_ours(folder, lock)
        raise LostError("another process changes its journal all the time")
    except LostError as lost:
        lock.release()
        return open_to_read(folder, lost.message, is_growing=True)


def _made_ours(folder: Path, lock: SessionLock) -> Opened:
    with contextlib.suppress(OSError):
        lock.check()
    # Before it is read: a former owner that was about to replace the journal no longer can.
    _remove_drafts(folder)
    # Read again: what its last owner has written before we had the lock counts.
    content, journal = _read(folder)
    triage, path = journal.triage, folder / JOURNAL
    notices, is_kept = _put_aside(folder, content, journal)
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
        os.chmod(path, 0o600)
    is_old, is_taken = journal.schema < SCHEMA, lock.taken_from is not None
    try:
        renewed = _renewed(content, journal, triage, is_taken=is_taken, is_kept=is_kept)
        if renewed is not None:
            replace_durably(path, renewed[1], _while_ours(path, lock, content))
            triage = renewed[0]
            content, journal = _read(folder)
            if content.data != renewed[1]:
                raise LostError("its journal was replaced by something else")
    except OSError as problem:
        with contextlib.suppress(OSError):
            lock.check()
        if is_old:
            lock.release()
            return open_to_read(folder, f"it cannot be brought to this format: {why(problem)}")
        # It may have been replaced all the same, and only the folder not be on the disk.
        content, journal = _read(folder)
        triage = journal.triage
        if is_taken:
            return _later(folder, content, journal, lock, problem)
    is_ragged = journal.is_ragged or bool(journal.torn)
    place = Appender(path, lock, content.inode, len(content.data), is_ragged=is_ragged)
    return Opened(triage, notices, place)


@contextlib.contextmanager
def _while_ours(path: Path, lock: SessionLock, content: Content) -> Iterator[None]:
    """The only time to replace the journal: or else what a later owner has saved is gone."""
    with lock.pinned():
        if not is_unchanged(path, content):
            raise _ChangedError
        yield


def _renewed(
    content: Content, journal: Journal, triage: Triage, *, is_taken: bool, is_kept: bool
) -> tuple[Triage, bytes] | None:
    """What the journal should be replaced by; None if it can stay."""
    if journal.schema < SCHEMA:
        if not is_kept:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return triage, whole_journal(triage)
    if is_kept and is_long(journal, len(content.data)):
        return compacted(triage)
    if is_taken or (is_kept and journal.torn):
        # In a new file: a former owner that still lives writes to the old one, if at all.
        data = content.data[: journal.end] if is_kept else content.data
        return triage, data if data.endswith(b"\n") or not data else data + b"\n"
    return None


def _put_aside(folder: Path, content: Content, journal: Journal) -> tuple[tuple[str, ...], bool]:
    """Keep what would get lost; what to say about it, and whether all of it is safe."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    parts = {
        f"journal.torn-{stamp}-{_mark(journal.torn)}": journal.torn.strip(b"\0"),
        f"journal.damaged-{_mark(journal.damaged)}": journal.damaged,
        f"journal.schema-{journal.schema}": content.data if journal.schema < SCHEMA else b"",
    }
    said = [*journal.notices, journal.torn_notice]
    is_kept = True
    for name, data in parts.items():
        try:
            if data:
                said.append(f"a copy is kept in {keep_aside(folder / name, data)}")
        except OSError as problem:
            is_kept = False
            said.append(f"no copy could be kept in {folder}: {why(problem)}")
    return tuple(one for one in said if one), is_kept


def _later(
    folder: Path,
    content: Content,
    journal: Journal,
    lock: SessionLock | None,
    problem: OSError,
) -> Opened:
    """A session that cannot be written to now, but perhaps when something is done to it."""
    place = _LaterPlace(folder, content.data, lock)
    said = f"nothing can be saved in {folder} at present: {why(problem)}"
    notices = (*journal.notices, journal.torn_notice, said)
    return Opened(journal.triage, tuple(one for one in notices if one), place)


class _LaterPlace:
    """A place that is made when the first line comes, or with a later attempt."""

    def __init__(self, folder: Path, data: bytes, lock: SessionLock | None) -> None:
        self._folder = folder
        self.path = folder / JOURNAL
        self._data = data
        self._lock = lock
        self._made: Place | None = None

    def append(self, line: bytes) -> None:
        """Make the place if there is none yet, and keep a line."""
        if self._made is None:
            self._made = self._make()
        self._made.append(line)

    def beat(self) -> None:
        """Show that we are alive."""
        if self._lock is not None:
            self._lock.beat()

    def release(self) -> None:
        """Let others have the session."""
        if self._lock is not None:
            self._lock.release()

    def _make(self) -> Place:
        try:
            self._lock = self._lock or SessionLock(self._folder)
            if read_regular(self.path).data != self._data:
                self._lock.release()
                raise LostError("it was changed by another process meanwhile")
            opened = _owned(self._folder, self._lock)
        except FileNotFoundError:
            raise LostError("its files were removed by something else") from None
        except HeldError as held:
            raise LostError(f"{held.message} by now") from held
        if opened.is_held:
            raise LostError(opened.why_read_only)
        if opened.place is None or isinstance(opened.place, _LaterPlace):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened.place


def _read(folder: Path) -> tuple[Content, Journal]:
    path = folder / JOURNAL
    try:
        content = read_regular(path)
        return content, read_journal(content.data, folder.name)
    except FileNotFoundError:
        raise StorageError(f"there is no session {folder.name} in {folder.parent}") from None
    except OSError as problem:
        raise StorageError(f"{path} cannot be read: {why(problem)}") from problem


def _is_foreign(content: Content, path: Path) -> bool:
    """True if it belongs to somebody else; network file systems may have the owner wrong."""
    me = os.geteuid()
    return content.owner != me and (me == 0 or not os.access(path, os.W_OK))


def _remove_drafts(folder: Path) -> None:
    """Remove what was not finished when somebody was killed; ours is the only one allowed."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith("journal.new-"):
                os.unlink(folder / name)


def _mark(data: bytes) -> str:
    """A few letters that tell contents apart."""
    return hashlib.blake2b(data, digest_size=4).hexdigest()

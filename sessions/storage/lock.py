"""One writer per session, on any file system: no flock, nothing but link and rename.

A lock is a file with the name of its holder, put in place by `link`, which is atomic on NFS as
well. Signs of life are its time of change, in the clock of the file server. Whoever takes a
lock over first claims the right to remove it, so that two never remove each other's.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import StorageError
from .files import create_private
from .holder import SILENT, Holder, holder_in, is_dead, myself
from .places import LOCK

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
CLAIM_LASTS = 30.0
"""Seconds after which a claim was left behind by a crash."""
ATTEMPTS = 20


class HeldError(StorageError):
    """Somebody else has the session."""

    def __init__(self, holder: Holder) -> None:
        super().__init__(f"{holder} has it open")
        self.holder = holder


class LostError(StorageError):
    """The session was ours, and is no longer."""


class _Seen(NamedTuple):
    """A lock as it was found."""

    holder: Holder
    changed: float


class SessionLock:
    """The right to write to a session; `HeldError` if it belongs to a living process."""

    def __init__(self, folder: Path, *, take_over: bool = False, me: Holder | None = None) -> None:
        self.me = me or myself()
        self.path = folder / LOCK
        self.taken_from: Holder | None = None
        """Who had it before, if it had to be taken away."""
        self._acquire(take_over)

    # -- while it is held -----------------------------------------------------------------

    def check(self) -> None:
        """`LostError` if it is no longer ours."""
        with self._opened():
            pass

    def beat(self) -> None:
        """Give a sign of life; `LostError` if it is no longer ours."""
        with self._opened() as handle:
            os.utime(handle)

    def release(self) -> None:
        """Let somebody else have it; nothing happens if somebody has taken it."""
        with contextlib.suppress(OSError):
            _remove(self.path, self.me)

    @contextlib.contextmanager
    def pinned(self) -> Iterator[None]:
        """Keep others from taking it away for a moment; `LostError` if one did, now or then.

        It is the claim to remove our own lock: whoever wants to has to wait, but for a holder
        that died or is silent for too long, which is why it is looked at again afterwards.
        """
        claim = self.path.with_name(f"{LOCK}.claim-{self.me.token}")
        mine = self.path.with_name(f"{LOCK}.{self.me.token}")
        create_private(mine, self.me.as_json())
        try:
            if not _put(mine, claim, self.me):
                raise LostError("another process is about to take it over")
        finally:
            with contextlib.suppress(OSError):
                os.unlink(mine)
        try:
            self.check()
            yield
            self.check()
        finally:
            with contextlib.suppress(OSError):
                _remove(claim, self.me)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """The lock, opened anew: on NFS this alone makes sure to see what others have done."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            raise LostError("its lock was removed by something else") from None
        try:
            holder = holder_in(os.read(handle, 4096), "")
            if holder.token != self.me.token:
                raise LostError(f"it was taken over by {holder}")
            yield handle
        finally:
            os.close(handle)

    # -- getting it -----------------------------------------------------------------------

    def _acquire(self, take_over: bool) -> None:
        mine = self.path.with_name(f"{LOCK}.{self.me.token}")
        create_private(mine, self.me.as_json())
        try:
            for _ in range(ATTEMPTS):
                if _put(mine, self.path, self.me):
                    self._tidy()
                    return
                found = look(self.path)
                if found is None:
                    continue
                if not take_over and not is_dead(found.holder, _silence(found, mine), self.me):
                    raise HeldError(found.holder)
                self._take_away(found, mine)
            raise StorageError(f"{self.path} changes hands all the time", hint="try again")
        finally:
            with contextlib.suppress(OSError):
                os.unlink(mine)

    def _take_away(self, found: _Seen, mine: Path) -> None:
        """Remove the lock of somebody, unless it has changed or another one is about to."""
        claim = self.path.with_name(f"{LOCK}.claim-{found.holder.token}")
        if not _put(mine, claim, self.me):
            rival = look(claim)
            if rival is not None:
                silence = _silence(rival, mine)
                is_over = silence > CLAIM_LASTS or is_dead(rival.holder, silence, self.me)
                if not is_over:
                    raise HeldError(rival.holder)
                _remove(claim, rival.holder)
            return
        try:
            again = look(self.path)
            if again is not None and again.holder.token == found.holder.token:
                _remove(self.path, found.holder)
                self.taken_from = found.holder
        finally:
            with contextlib.suppress(OSError):
                os.unlink(claim)

    def _tidy(self) -> None:
        """Remove what others have left behind when they were killed."""
        with contextlib.suppress(OSError):
            newest = self.path.stat().st_mtime
            for name in os.listdir(self.path.parent):
                if name.startswith(f"{LOCK}.") and self.me.token not in name:
                    left = self.path.with_name(name)
                    if newest - left.lstat().st_mtime > SILENT:
                        left.unlink()


def look(path: Path) -> _Seen | None:
    """Who holds a lock, and the time of the last sign of life; None if there is no lock."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(handle)
        # One that makes no sense is known by which file it is.
        unnamed = f"{found.st_ino:x}-{found.st_mtime_ns:x}"
        return _Seen(holder_in(os.read(handle, 4096), unnamed), found.st_mtime)
    finally:
        os.close(handle)


def living_holder(folder: Path) -> Holder | None:
    """Who has a session open, as far as one can tell without touching anything."""
    found = look(folder / LOCK)
    if found is None:
        return None
    return None if is_dead(found.holder, 0.0, myself()) else found.holder


def _silence(found: _Seen, mine: Path) -> float:
    """Seconds since a sign of life, by the clock of the file server alone."""
    os.utime(mine)
    return mine.stat().st_mtime - found.changed


def _put(mine: Path, place: Path, me: Holder) -> bool:
    """Put our file in place; False if there is one."""
    try:
        os.link(mine, place)
        return True
    except OSError as problem:
        # NFS may have done it and lost the answer: what is there now counts.
        seen = look(place)
        if seen is not None and seen.holder.token == me.token:
            return True
        if isinstance(problem, FileExistsError) or seen is not None:
            return False
        if problem.errno not in _NO_LINKS:
            raise
    try:
        create_private(place, me.as_json())
        return True
    except FileExistsError:
        return False


def _remove(path: Path, holder: Holder) -> None:
    """Remove the lock of one holder; that of any other is put back."""
    aside = path.with_name(f"{path.name}.gone-{holder.token}")
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return
    found = look(aside)
    if found is not None and found.holder.token != holder.token:
        with contextlib.suppress(OSError):
            _put(aside, path, found.holder)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(aside)

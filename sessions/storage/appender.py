"""Writes to a journal, line by line: what it has taken is on the disk, and in our session."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Protocol

from .files import write_all
from .lock import LostError, SessionLock


class Place(Protocol):
    """Where lines are kept."""

    @property
    def path(self) -> Path:
        """The file that they go to."""

    def append(self, line: bytes) -> None:
        """Keep a line; `OSError` if it is not on the disk, `LostError` if it never will be."""

    def beat(self) -> None:
        """Show that we are alive; `LostError` if the session is no longer ours."""

    def release(self) -> None:
        """Let others have the session."""


class Appender:
    """A journal that only grows, and only while the lock is ours."""

    def __init__(
        self,
        path: Path,
        lock: SessionLock,
        inode: int,
        end: int,
        *,
        is_ragged: bool = False,
    ) -> None:
        self.path = path
        self.lock = lock
        self._inode = inode
        self._end = end
        """Everything before it counts; anything after it is the rest of a failed attempt."""
        self._is_ragged = is_ragged
        """What stands before the next line does not end like a line."""

    def append(self, line: bytes) -> None:
        """Keep a line; `OSError` if it is not on the disk, `LostError` if it never will be."""
        self.lock.check()
        handle = self._open()
        try:
            data = b"\n" + line if self._is_ragged else line
            try:
                write_all(handle, data)
                os.fsync(handle)
            except OSError:
                self._cut_back(handle)
                raise
        finally:
            os.close(handle)
        # Looked at again: whoever took the session over meanwhile may not have read this line.
        self.lock.check()
        self._check_identity()
        self._end += len(data)
        self._is_ragged = False

    def beat(self) -> None:
        """Show that we are alive; `LostError` if the session is no longer ours."""
        self.lock.beat()

    def release(self) -> None:
        """Let others have the session."""
        self.lock.release()

    def _open(self) -> int:
        """The journal at its good end; opened every time, for a handle may go stale."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            handle = os.open(self.path, flags)
        except FileNotFoundError:
            raise LostError("its journal was removed by something else") from None
        try:
            found = os.fstat(handle)
            self._check(found)
            if found.st_size < self._end:
                raise LostError("its journal was shortened by something else")
            if found.st_size > self._end:
                self._cut_back(handle)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _cut_back(self, handle: int) -> None:
        """Remove the rest of a failed attempt, or else begin the next line after it."""
        try:
            os.ftruncate(handle, self._end)
        except OSError:
            self._is_ragged = True
            with contextlib.suppress(OSError):
                self._end = os.fstat(handle).st_size

    def _check_identity(self) -> None:
        try:
            self._check(os.stat(self.path, follow_symlinks=False))
        except FileNotFoundError:
            raise LostError("its journal was removed by something else") from None

    def _check(self, found: os.stat_result) -> None:
        if found.st_ino != self._inode or not stat.S_ISREG(found.st_mode):
            raise LostError("its journal was replaced by something else")

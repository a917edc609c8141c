"""Folders for copies that belong to one running process, and the removal of what a killed one left.

Each folder has a lock file beside it that its process holds locked. The kernel unlocks it when the
process ends, however it ends, so a folder whose lock is free is of no use to anybody.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from .private_temp import private_temp_folder

LOCK = ".lock"
FOREIGN_AGE = 7 * 24 * 3600
"""Seconds after which a lock of another host counts as left: not every file server shares locks."""


class TempFolder:
    """A private folder in the temporary directory, removed when closed, or by a later start."""

    def __init__(self, kind: str) -> None:
        self._base = temp_base()
        self._lock = -1
        while self._lock < 0:
            self.path = self._base / f"{kind}-{secrets.token_hex(4)}"
            self._lock = take_lock(self.path)
        self.path.mkdir(mode=0o700)

    def close(self) -> None:
        """Remove the folder; fine to call twice."""
        if self._lock < 0:
            return
        discard(self.path, self._lock)
        self._lock = -1
        if self._base.name != _base_name():  # a random name, which will never be used again
            with contextlib.suppress(OSError):
                self._base.rmdir()

    def __enter__(self) -> Self:
        """Keep it for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Remove it."""
        self.close()


def _base_name() -> str:
    return f"mltd-{os.getuid()}"


def temp_base() -> Path:
    """The folder in the temporary directory that is ours alone."""
    return private_temp_folder(_base_name())


def lock_of(folder: Path) -> Path:
    """The lock file of a folder."""
    return folder.with_name(folder.name + LOCK)


def take_lock(folder: Path) -> int:
    """Lock a folder, which need not exist yet; a descriptor, or -1 if another process has it."""
    path = lock_of(folder)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    is_taken = False
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_taken = _is_same(lock, path) and not _is_of_living_host(lock)
        if is_taken:
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{socket.gethostname()} {os.getpid()}\n".encode(), 0)
    finally:
        if not is_taken:
            os.close(lock)
    return lock if is_taken else -1


def discard(folder: Path, lock: int) -> None:
    """Remove a folder that we have locked, and its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        lock_of(folder).unlink()
    with contextlib.suppress(OSError):
        os.close(lock)


def remove_temp_leftovers() -> None:
    """Remove what killed processes of this user have left in the temporary directory."""
    usual = Path(tempfile.gettempdir(), _base_name())
    bases = [usual]
    if not _is_own(usual, stat.S_ISDIR):
        # Somebody else has taken the name, so folders with random names were used.
        bases = [
            path for path in usual.parent.glob(f"{usual.name}-*") if _is_own(path, stat.S_ISDIR)
        ]
    for base in bases:
        remove_leftovers(base)


def remove_leftovers(base: Path, prefix: str = "") -> None:
    """Remove the folders in this one whose process is gone; never another user's."""
    try:
        is_private = not base.stat().st_mode & 0o022
        names = [name for name in os.listdir(base) if name.endswith(LOCK) and is_private]
    except OSError:
        return
    for name in names:
        folder = base / name.removesuffix(LOCK)
        if not name.startswith(prefix) or not _is_own(base / name, stat.S_ISREG):
            continue
        with contextlib.suppress(OSError):
            lock = take_lock(folder)
            if lock >= 0:
                discard(folder, lock)


def _is_own(path: Path, is_kind: Callable[[int], bool]) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return is_kind(found.st_mode) and found.st_uid == os.geteuid()


def _is_same(lock: int, path: Path) -> bool:
    """False if whoever had it before has removed the file between our opening and our locking."""
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except FileNotFoundError:
        return False


def _is_of_living_host(lock: int) -> bool:
    """True if another host has written to the lock lately, whose locks we may not see."""
    host = os.pread(lock, 300, 0).partition(b" ")[0].decode(errors="replace")
    is_recent = time.time() - os.fstat(lock).st_mtime < FOREIGN_AGE
    return host not in ("", socket.gethostname()) and is_recent

"""The private folder into which remote files are copied while they are looked at."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Self

from ..errors import InputError
from ..owned_folder import discard, remove_leftovers, remove_temp_leftovers, take_lock, temp_base
from ..state_files import private_folder
from .names import FOLDER, VARIABLE, forget_own_root, keep_own_root

MOST_AT_ONCE = 64
"""Apps of one user that look at remote files at the same time."""


def cache_directory() -> Path:
    """Our part of the XDG cache directory: logs may be too big for a `/tmp` in memory."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME") or os.path.expanduser("~")
        base = os.path.join(home, ".cache")
    return Path(base, "mltd")


def remove_old_copies() -> None:
    """Remove the copies of logs that killed processes of this user have left."""
    remove_leftovers(cache_directory(), FOLDER)
    remove_temp_leftovers()


class MirrorRoot:
    """An empty folder for one app; what an app that was killed left behind is reused and emptied.

    Its number is the first that is free, so that the paths of copies stay the same from one start
    to the next.
    """

    def __init__(self, folder: Path | None = None, *, is_announced: bool = True) -> None:
        self._lock = -1
        self._fallback: Path | None = None
        self.path = self._take(folder or cache_directory())
        if is_announced:
            os.environ[VARIABLE] = str(self.path)
        else:
            # For whole copies that nobody else is to look after.
            keep_own_root(str(self.path))

    def _take(self, folder: Path) -> Path:
        try:
            return self._first_free(folder)
        except OSError as problem:
            reason = problem.strerror or str(problem)
        try:
            place = temp_base()
            self._fallback = None if place.name == f"mltd-{os.getuid()}" else place
            return self._first_free(place)
        except OSError:
            raise InputError(
                f"remote logs cannot be copied into {folder}: {reason}",
                hint="`export XDG_CACHE_HOME=DIRECTORY` to one that can be written",
            ) from None

    def _first_free(self, folder: Path) -> Path:
        private_folder(folder)
        if folder.stat().st_uid != os.geteuid():
            raise PermissionError(0, f"{folder} is not yours")
        for number in range(1, MOST_AT_ONCE + 1):
            place = folder / f"{FOLDER}{number}"
            lock = take_lock(place)
            if lock < 0:
                continue
            self._lock = lock
            shutil.rmtree(place, ignore_errors=True)
            private_folder(place)
            return Path(os.path.realpath(place))
        raise FileExistsError(0, f"{MOST_AT_ONCE} apps use it")

    def close(self) -> None:
        """Remove the copies."""
        if self._lock < 0:
            return
        discard(self.path, self._lock)
        self._lock = -1
        forget_own_root(str(self.path))
        if os.environ.get(VARIABLE) == str(self.path):
            del os.environ[VARIABLE]
        if self._fallback is not None:  # its name will never be used again
            shutil.rmtree(self._fallback, ignore_errors=True)

    def __enter__(self) -> Self:
        """Keep copies for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Remove them."""
        self.close()

"""One look at a path: what is there now, without being fooled by a network file system's caches.

Network clients answer `stat` from a cache (sshfs: 20 s, NFS: up to a minute). Opening the file
makes them ask the server, so where inotify is silent a look opens the file and closes it again.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import NamedTuple

from ..name_text import escape_unprintable

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a block device",
}

OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Look(NamedTuple):
    """What changes when a file changes."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


def shown(path: str | os.PathLike[str]) -> str:
    """A path as it may go to a terminal: nothing in a file's name is obeyed or unprintable."""
    return escape_unprintable(str(path))


def kind_of(mode: int) -> str:
    """What a file is, in words, if it is anything but a regular file; else empty."""
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "not a regular file")


def _from_stat(result: os.stat_result) -> Look:
    return Look(
        result.st_dev, result.st_ino, result.st_size, result.st_mtime_ns, result.st_ctime_ns
    )


def look(path: Path, *, fresh: bool = False) -> Look | None:
    """The file at `path` as it is now; None if it is not there or not to be seen."""
    try:
        result = os.stat(path)
        # Opening a pipe would wake, and closing it would kill, whoever writes into it.
        if fresh and stat.S_ISREG(result.st_mode):
            with contextlib.suppress(PermissionError):
                descriptor = os.open(path, OPEN_FLAGS)
                try:
                    result = os.fstat(descriptor)
                finally:
                    os.close(descriptor)
    except (OSError, ValueError):
        return None
    return _from_stat(result)

"""A new session on disk: its folder, its lock, and the beginning of its journal."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from ..errors import StorageError
from .appender import Appender
from .files import make_private_folder, replace_durably, sync_folder, why
from .lock import SessionLock
from .places import JOURNAL, is_ours


def create_session(sessions: Path, id: str, journal: bytes) -> tuple[Path, Appender]:  # noqa: A002
    """Its folder, named like the id or nearly so, and where to write; all of it or nothing."""
    folder = sessions / id
    try:
        make_private_folder(sessions)
        folder = _own_folder(sessions, id)
        try:
            lock = SessionLock(folder)
            replace_durably(folder / JOURNAL, journal)
            sync_folder(sessions)
            inode = os.stat(folder / JOURNAL, follow_symlinks=False).st_ino
        except BaseException:
            remove_session(folder)
            raise
    except OSError as problem:
        raise StorageError(
            f"no session can be kept in {sessions}: {why(problem)}",
            hint="make room there, or choose another folder",
        ) from problem
    return folder, Appender(folder / JOURNAL, lock, inode, len(journal))


def remove_session(folder: Path) -> list[str]:
    """Remove the files that we know, and the folder if nothing else is in it; what is left."""
    left = []
    with contextlib.suppress(OSError):
        # By the folder itself: a link that somebody puts in its place leads nowhere.
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            # The journal first: without it the rest is no session any more.
            for name in sorted(os.listdir(place), key=lambda name: (name != JOURNAL, name)):
                try:
                    if not is_ours(name):
                        raise OSError
                    os.unlink(name, dir_fd=place)
                except OSError:
                    left.append(name)
        finally:
            os.close(place)
        if not left:
            os.rmdir(folder)
            sync_folder(folder.parent)
    return left


def _own_folder(sessions: Path, id: str) -> Path:  # noqa: A002 - what it is
    """A new folder: one that is there already belongs to another session."""
    for number in range(1, 100):
        folder = sessions / (id if number == 1 else f"{id}-{number}")
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            continue
        os.chmod(folder, 0o700)
        return folder
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(sessions / id))

"""Files and folders for their owner alone, whole or not at all, on the disk when we say so."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from ..errors import StorageError

MOST_BYTES = 256 * 2**20
"""No session grows like that; something else lies where the journal should be."""


class Content(NamedTuple):
    """What a file holds, and which one it was."""

    data: bytes
    inode: int
    """The device is left out: that of a network mount may change while we look away."""
    size: int
    changed: int
    """Nanoseconds."""
    owner: int
    """User id."""


def read_regular(path: Path, *, most: int = MOST_BYTES, follow: bool = False) -> Content:
    """A whole file; `StorageError` for anything that is not a plain file of sensible size."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    handle = os.open(path, flags)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise StorageError(f"{path} is no plain file")
        if found.st_size > most:
            raise StorageError(f"{path} is too large for a session: {found.st_size:,} bytes")
        data = bytearray()
        while len(data) <= most and (more := os.read(handle, 1 << 20)):
            data += more
        return Content(bytes(data), found.st_ino, found.st_size, found.st_mtime_ns, found.st_uid)
    finally:
        os.close(handle)


def is_unchanged(path: Path, content: Content) -> bool:
    """True if a file is still the one that was read, and nothing was written to it since."""
    try:
        # Opened: on NFS this alone makes sure to see what others have done.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    now = (found.st_ino, found.st_size, found.st_mtime_ns)
    return now == (content.inode, len(content.data), content.changed)


def make_private_folder(folder: Path) -> None:
    """Make a folder for its owner alone, with all above it, whatever the umask says.

    One that is there already stays as it is: it may be anything that a user has chosen.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        # Step by step: a umask of 777 would not even let us into what we have just made.
        with contextlib.suppress(FileExistsError):
            os.mkdir(one, 0o700)
            os.chmod(one, 0o700)
            sync_folder(one.parent)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(folder))


def create_private(path: Path, data: bytes) -> None:
    """A new file for its owner alone, on the disk; what cannot be finished is removed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o600)
    try:
        os.fchmod(handle, 0o600)
        write_all(handle, data)
        os.fsync(handle)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(handle)


def replace_durably(
    path: Path, data: bytes, guard: AbstractContextManager[None] | None = None
) -> None:
    """Write a file as a whole: after a crash at any point it is the old or the new one.

    What it takes to be allowed to is in `guard`: entered at the last moment, left right after.
    """
    draft = path.with_name(f"{path.stem}.new-{secrets.token_hex(4)}")
    create_private(draft, data)
    try:
        with guard or contextlib.nullcontext():
            os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    sync_folder(path.parent)


def keep_aside(path: Path, data: bytes) -> Path:
    """A copy of something that would get lost; the same bytes under the same name only once."""
    if not path.exists():
        create_private(path, data)
        sync_folder(path.parent)
    return path


def write_all(handle: int, data: bytes) -> None:
    """One write; a second one only to learn why the first one stopped short."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def why(problem: OSError) -> str:
    """What the system says, in a few words."""
    said = problem.strerror or str(problem)
    return said[:1].lower() + said[1:]


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder survive a crash."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as problem:
        # Some network file systems do not know how to; there is nothing more to be done.
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)

"""The bytes of a remote file on the disk here, kept so that a reader takes them for a real log.

It grows by appending. What begins anew is a new file that is renamed over the old one. A copy
that began with the file's end has a hole before it, which is filled from its end backwards: where
the data begin is where `lseek(SEEK_DATA)` finds them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from pathlib import Path

from .far_side import HOLE_BYTES

SPARE_BYTES = 1 << 30
"""So much of a disk is left to others."""
_ACCESS = 0o600


class LocalCopy:
    """Writes one file; whoever uses it takes care that only one thread does."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, offset: int, data: bytes) -> None:
        """Put a new file in place that holds these bytes behind a hole."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Short, as the name itself may be as long as names can be.
        fresh = self.path.parent / f".mltd-{secrets.token_hex(8)}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _ACCESS)
        try:
            try:
                _write(descriptor, data, offset)
            finally:
                os.close(descriptor)
            os.rename(fresh, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(fresh)
            raise

    def append(self, data: bytes, end: int) -> int:
        """Write behind the end, and give the new end; on a full disk, as far as it goes."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            with memoryview(data) as view:
                written = 0
                while written < len(data):
                    try:
                        written += os.pwrite(descriptor, view[written:], end + written)
                    except OSError:
                        if not written:
                            raise
                        break
            return end + written
        finally:
            os.close(descriptor)

    def prepend(self, data: bytes, start: int) -> None:
        """Fill the hole before `start`, in steps and backwards: a reader never sees a gap."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            for end in range(len(data), 0, -HOLE_BYTES):
                begin = max(0, end - HOLE_BYTES)
                _write(descriptor, data[begin:end], start - len(data) + begin)
        finally:
            os.close(descriptor)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes that are there."""
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.read(length)

    def set_time(self, modified: float) -> None:
        """Let the copy be as old as the original."""
        with contextlib.suppress(OSError, OverflowError, ValueError):
            os.utime(self.path, (modified, modified))


def _write(descriptor: int, data: bytes, offset: int) -> None:
    with memoryview(data) as view:
        written = 0
        while written < len(data):
            written += os.pwrite(descriptor, view[written:], offset + written)


def explain(error: OSError) -> str:
    """Why bytes could not be stored here."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk here is full: {os.strerror(error.errno)}"
    return f"it cannot be copied here: {os.strerror(error.errno or 0)}"


def free_bytes(path: Path) -> int:
    """What may still be written near that path; a disk that does not tell counts as endless."""
    for folder in path.parents:
        with contextlib.suppress(OSError):
            return max(0, shutil.disk_usage(folder).free - SPARE_BYTES)
    return 1 << 62


def keeps_holes(folder: Path) -> bool:
    """True if the file system can tell exactly where the data of a file begin."""
    place = 3 * HOLE_BYTES
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / f".mltd-{secrets.token_hex(8)}"
        descriptor = os.open(probe, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _ACCESS)
        try:
            os.unlink(probe)
            os.pwrite(descriptor, b"x", place)
            is_exact = os.lseek(descriptor, 0, os.SEEK_DATA) == place
            os.pwrite(descriptor, b"x" * HOLE_BYTES, place - HOLE_BYTES)
            return is_exact and os.lseek(descriptor, 0, os.SEEK_DATA) == place - HOLE_BYTES
        finally:
            os.close(descriptor)
    except (OSError, AttributeError):
        return False

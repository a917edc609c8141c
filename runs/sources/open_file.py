"""A file held open, so that it can be read on after its name was given to another.

sshfs knows a file by its name alone: after a rotation on the server, `fstat` on the old descriptor
describes the successor, and the page cache holds bytes of both. There a descriptor is opened with
`O_DIRECT`, so that each read is answered by the server from the file that was opened, and the
status is the one from the moment of opening.
"""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass

from ..open_artifact import ANYWHERE, NotAFile, Roots, open_artifact
from .mounts import file_system_type

_BY_NAME_TYPES = frozenset({"fuse.sshfs"})
"""File systems that know a file by its name, and serve `O_DIRECT` reads from the open handle."""
_READ_UNIT = 128 << 10
"""The kernel cuts an `O_DIRECT` read that passes the file's size at a multiple of this."""

_by_name: dict[int, bool] = {}
"""Device number to whether its file system knows files by name."""

__all__ = ["NotAFile", "OpenFile"]


@dataclass(slots=True)
class OpenFile:
    """A descriptor and what was last known of the file behind it."""

    descriptor: int
    status: os.stat_result
    path: str
    is_by_name: bool = False
    """True if the file system answers for the name, not for the file that was opened."""

    @classmethod
    def at(cls, path: str | os.PathLike[str], root: Roots = ANYWHERE) -> OpenFile:
        """Open a regular file that lies in its root; anything else raises before it is touched."""
        is_by_name = _is_by_name(path, os.stat(path).st_dev)
        descriptor = _open(path, root, direct=is_by_name)
        try:
            if is_by_name:
                # A read makes the kernel ask for the status again, which it may have from before.
                os.pread(descriptor, 1, 0)
            return cls(descriptor, os.fstat(descriptor), os.fspath(path), is_by_name)
        except OSError:
            os.close(descriptor)
            raise

    @property
    def key(self) -> tuple[int, int]:
        """Device and inode."""
        return self.status.st_dev, self.status.st_ino

    @property
    def size(self) -> int:
        """Length at the last refresh."""
        return self.status.st_size

    @property
    def is_empty(self) -> bool:
        """True if there is no byte to read."""
        return not os.pread(self.descriptor, 1, 0) if self.is_by_name else self.size == 0

    def refresh(self) -> None:
        """Ask again for length, times and links, where the answer is about this very file."""
        if not self.is_by_name:
            self.status = os.fstat(self.descriptor)

    def read_rest(self, offset: int, length: int) -> tuple[bytes, bool]:
        """Bytes of a file that lost its name on such a file system; true if they are its last.

        The kernel refuses a read that begins behind the size of whatever has the name now, but
        one that begins before it may go on behind it.
        """
        size = os.fstat(self.descriptor).st_size
        first = min(offset, max(0, size - 1))
        if offset - first >= _READ_UNIT:
            return b"", False
        wanted = offset - first + length
        data = os.pread(self.descriptor, wanted, first)
        is_last = first + len(data) >= offset and len(data) < wanted and len(data) % _READ_UNIT != 0
        return data[offset - first :], is_last

    def first_data(self, *, has_hole: bool = False) -> int:
        """Where content begins: a writer that kept its position over a truncation leaves a hole.

        `has_hole`: there may be one, whatever the number of blocks says; some file systems count
        those that they keep ready for the next bytes.
        """
        if self.status.st_blocks * 512 >= self.size and not has_hole:
            return 0
        try:
            return os.lseek(self.descriptor, 0, os.SEEK_DATA)
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else 0

    def close(self) -> None:
        """Let go."""
        with contextlib.suppress(OSError):
            os.close(self.descriptor)


def _open(path: str | os.PathLike[str], root: Roots, *, direct: bool) -> int:
    if direct:
        try:
            return open_artifact(path, root, os.O_DIRECT)
        except NotAFile:
            raise
        except OSError:
            pass  # not every version of sshfs can
    return open_artifact(path, root)


def _is_by_name(path: str | os.PathLike[str], device: int) -> bool:
    if device not in _by_name:
        _by_name[device] = file_system_type(path) in _BY_NAME_TYPES
    return _by_name[device]

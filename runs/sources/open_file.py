"""A file held open, so that it can be read on after its name was given to another."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass

from .looks import OPEN_FLAGS, kind_of


class NotAFile(OSError):
    """What stands at the path has no bytes to read back: a directory, a pipe, a device."""


@dataclass(slots=True)
class OpenFile:
    """A descriptor and what was last known of the file behind it."""

    descriptor: int
    status: os.stat_result

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> OpenFile:
        """Open a regular file; anything else raises before it is touched."""
        _refuse(os.stat(path))
        descriptor = os.open(path, OPEN_FLAGS)
        try:
            status = os.fstat(descriptor)
            # The name may have changed hands since the check.
            _refuse(status)
        except OSError:
            os.close(descriptor)
            raise
        return cls(descriptor, status)

    @property
    def key(self) -> tuple[int, int]:
        """Device and inode."""
        return self.status.st_dev, self.status.st_ino

    @property
    def size(self) -> int:
        """Length at the last refresh."""
        return self.status.st_size

    def refresh(self) -> None:
        """Ask again for length, times and links."""
        self.status = os.fstat(self.descriptor)

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


def _refuse(status: os.stat_result) -> None:
    kind = kind_of(status.st_mode)
    if kind:
        raise NotAFile(errno.EINVAL, f"it is {kind}")

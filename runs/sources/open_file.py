"""A file held open, so that it can be read on after its name was given to another."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass

from ..open_artifact import ANYWHERE, NotAFile, Roots, open_artifact

__all__ = ["NotAFile", "OpenFile"]


@dataclass(slots=True)
class OpenFile:
    """A descriptor and what was last known of the file behind it."""

    descriptor: int
    status: os.stat_result

    @classmethod
    def at(cls, path: str | os.PathLike[str], root: Roots = ANYWHERE) -> OpenFile:
        """Open a regular file that lies in its root; anything else raises before it is touched."""
        descriptor = open_artifact(path, root)
        try:
            return cls(descriptor, os.fstat(descriptor))
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

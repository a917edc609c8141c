"""What is remembered about the bytes already read, to tell a grown file from a rewritten one."""

from __future__ import annotations

import hashlib
import os

HEAD_BYTES = 1024
TAIL_BYTES = 1024
WHOLE_BYTES = 16 << 20
"""Up to here a digest of everything read is kept: a few milliseconds to compute again."""

_BLOCK = 1 << 20


class Fingerprint:
    """The bytes of one generation from `start` to `offset`, without keeping them."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.offset = start
        self._head = b""
        self._tail = b""
        self._whole = hashlib.blake2b(digest_size=16)
        self._times = (0, 0)

    @property
    def is_empty(self) -> bool:
        """True before the first byte."""
        return self.offset == self.start

    @property
    def modified_ns(self) -> int:
        """When the file was last modified, as far as it was seen."""
        return self._times[0]

    @property
    def tail(self) -> bytes:
        """The last bytes, at most a kibibyte."""
        return self._tail

    def begins(self, descriptor: int) -> bool:
        """True if the file has the same first bytes, at most a kibibyte."""
        return os.pread(descriptor, len(self._head), self.start) == self._head

    def extend(self, data: bytes) -> None:
        """Add the bytes that follow."""
        self._head += data[: HEAD_BYTES - len(self._head)]
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        self.offset += len(data)
        if self._is_small:
            self._whole.update(data)

    def fits(self, descriptor: int, status: os.stat_result) -> bool:
        """True if the file still begins with these bytes, as far as a cheap check can tell.

        The cheap check compares the first and the last kibibyte. A file whose times changed but
        whose length did not is the typical rewritten snapshot: that one is compared in full.
        """
        if not self._ends_fit(descriptor, status):
            return False
        touched_only = status.st_size == self.offset and _times(status) != self._times
        if touched_only and not self.is_empty and not self._whole_fits(descriptor):
            return False
        self.keep_times(status)
        return True

    def keep_times(self, status: os.stat_result) -> None:
        """Remember the times of a file that was found to fit."""
        self._times = _times(status)

    def is_copied_in(self, descriptor: int, status: os.stat_result) -> bool:
        """True if another file begins with all of these bytes, so that it is a copy of this one.

        A log is compared in full up to 16 MiB, so a few bytes are enough to know a short one: a new
        run that begins with the same banner differs as soon as a byte behind the banner was read.
        """
        if self.is_empty or not self._ends_fit(descriptor, status):
            return False
        return self._whole_fits(descriptor)

    @property
    def _is_small(self) -> bool:
        return self.offset - self.start <= WHOLE_BYTES

    def _ends_fit(self, descriptor: int, status: os.stat_result) -> bool:
        if status.st_size < self.offset:
            return False
        if not self.begins(descriptor):
            return False
        return os.pread(descriptor, len(self._tail), self.offset - len(self._tail)) == self._tail

    def _whole_fits(self, descriptor: int) -> bool:
        if not self._is_small:
            return True
        digest = hashlib.blake2b(digest_size=16)
        position = self.start
        while position < self.offset:
            data = os.pread(descriptor, min(_BLOCK, self.offset - position), position)
            if not data:
                return False
            digest.update(data)
            position += len(data)
        return digest.digest() == self._whole.digest()


def _times(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_ctime_ns

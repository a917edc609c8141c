"""Undoes `gzip -1c` of the far side, piece by piece."""

from __future__ import annotations

import zlib

from .problems import unreadable


class Unpacker:
    """Bytes go in as they arrive; damage ends the stream, as a cut would.

    More than `most` bytes in all are no answer to what was asked: `LinkLost`.
    """

    def __init__(self, most: int) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._left = most
        self._is_broken = False

    def take(self, data: bytes) -> bytes:
        """What these bytes add."""
        if self._is_broken or self._inner.eof:
            return b""
        try:
            unpacked = self._inner.decompress(data, self._left + 1)
        except zlib.error:
            self._is_broken = True
            return b""
        self._left -= len(unpacked)
        if self._left < 0:
            raise unreadable("it is longer than what was asked for")
        return unpacked

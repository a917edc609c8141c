"""Undoes `gzip -1c` of the far side, piece by piece."""

from __future__ import annotations

import zlib


class Unpacker:
    """Bytes go in as they arrive; damage ends the stream, as a cut would."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._is_broken = False

    def take(self, data: bytes) -> bytes:
        """What these bytes add."""
        if self._is_broken or self._inner.eof:
            return b""
        try:
            return self._inner.decompress(data)
        except zlib.error:
            self._is_broken = True
            return b""

"""Compressed files as plain bytes: several members, cut-off ends and damage included.

Reading never fails: what can be decoded is delivered, and `notes` says what could not.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple, Protocol

_INPUT_BYTES = 64 << 10
_XZ_MEMORY_BYTES = 512 << 20
"""`xz -9` needs 64 MiB; a header that asks for more than this is not a log."""
LEAST_LIMIT = 32 << 20
"""Unpacked bytes that are read of any file, however well it was packed."""
MOST_GROWTH = 32
"""Further bytes that are read for each packed byte; logs have 5 to 30, a bomb has thousands."""


class Decoder(Protocol):
    """Decodes one member; the shape that bz2 and lzma have."""

    @property
    def eof(self) -> bool:
        """True once the member's end was seen."""
        ...

    @property
    def needs_input(self) -> bool:
        """True if nothing more comes out before something goes in."""
        ...

    @property
    def unused_data(self) -> bytes:
        """Input behind the member's end."""
        ...

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Take input and give at most so much output."""
        ...


class _GzipDecoder:
    """zlib's decoder in the shape of the others."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        output = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = len(output) < max_length and not self._inner.unconsumed_tail
        return output


class _ZstdDecoder:
    """zstandard's decoder, which cannot limit its output: give it little at a time."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(data)


class Codec(NamedTuple):
    """A kind of compression: its name, the bytes its members begin with, its decoder."""

    name: str
    magics: tuple[bytes, ...]
    decoder: Callable[[], Decoder]
    input_bytes: int = _INPUT_BYTES


def _xz() -> Decoder:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)


_BZIP2_MAGICS = tuple(
    b"BZh%d%b" % (level, block)
    for level in range(1, 10)
    for block in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # a block, or an end without any
)
_SKIPPABLE_FRAMES = tuple(bytes([0x50 + n, 0x2A, 0x4D, 0x18]) for n in range(16))

CODECS = (
    Codec("gzip", (b"\x1f\x8b\x08",), _GzipDecoder),
    Codec("xz", (b"\xfd7zXZ\x00",), _xz),
    Codec("bzip2", _BZIP2_MAGICS, bz2.BZ2Decompressor),
    # 1 KiB of zstd can become 32 MiB of text.
    Codec("zstd", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE_FRAMES), _ZstdDecoder, input_bytes=1 << 10),
)
MAGIC_BYTES = 10


def recognise(head: bytes) -> Codec | None:
    """The compression that a file beginning with `head` has; its name does not matter."""
    return next((codec for codec in CODECS if head.startswith(codec.magics)), None)


class DecompressedRaw(io.RawIOBase):
    """The decoded bytes of a compressed file."""

    def __init__(self, source: BinaryIO, codec: Codec) -> None:
        self._source = source
        self._codec = codec
        self._decoder = codec.decoder()
        self._pending = b""
        self._ready = memoryview(b"")
        self._is_done = False
        self._delivered = 0
        self._limit = LEAST_LIMIT + MOST_GROWTH * _size(source)
        self.notes: list[str] = []

    def readable(self) -> bool:
        """Always: this is for reading only."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next decoded bytes; 0 at the end, whatever ended it."""
        while not self._ready and not self._is_done:
            self._ready = memoryview(self._decode(len(buffer)))
        room = self._limit - self._delivered
        if len(self._ready) > room:
            self._ready = self._ready[:room]
            self._stop_at_limit()
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        self._delivered += count
        return count

    def close(self) -> None:
        """Close the compressed file too."""
        if not self.closed:
            self._source.close()
        super().close()

    def _decode(self, limit: int) -> bytes:
        try:
            if self._decoder.eof and not self._next_member():
                return b""
            if self._decoder.needs_input and not self._pending:
                self._pending = self._source.read(self._codec.input_bytes)
                if not self._pending:
                    self._finish("is cut off in the middle")
                    return b""
            data, self._pending = self._pending, b""
            return self._decoder.decompress(data, limit)
        except OSError as error:
            if error.errno:
                self._finish(f"could not be read to its end ({error.strerror})")
            else:
                self._finish("is damaged")
        except Exception as error:
            if not _is_damage(error):
                raise
            self._finish("is damaged")
        return b""

    def _next_member(self) -> bool:
        """Begin the member behind the one that ended; padding between them is no damage."""
        rest = (self._decoder.unused_data + self._pending).lstrip(b"\0")
        while len(rest) < MAGIC_BYTES and (more := self._source.read(self._codec.input_bytes)):
            rest = (rest + more).lstrip(b"\0")
        self._pending = rest
        if rest.startswith(self._codec.magics):
            self._decoder = self._codec.decoder()
            return True
        self._is_done = True
        if rest:
            self.notes.append(f"bytes behind the end of the {self._codec.name} data were left out")
        return False

    def _stop_at_limit(self) -> None:
        if self._is_done:
            return
        self._is_done = True
        self.notes.append(
            f"the {self._codec.name} data unpacks to far more than its size; only the first "
            f"{self._limit >> 20:,} MiB were read (to read all of it, unpack it first)"
        )

    def _finish(self, what: str) -> None:
        self._is_done = True
        self.notes.append(
            f"the {self._codec.name} data {what}; "
            f"the {self._delivered:,} bytes before that were read"
        )


def _size(file: BinaryIO) -> int:
    """Bytes of an open file; 0 where it is no file of its own."""
    try:
        return os.fstat(file.fileno()).st_size
    except (OSError, io.UnsupportedOperation):
        return 0


def _is_damage(error: BaseException) -> bool:
    """True for the errors with which decoders reject their input."""
    # zstandard may not be installed, so its error is known by name.
    is_zstd = type(error).__name__ == "ZstdError"
    return is_zstd or isinstance(error, (zlib.error, lzma.LZMAError, EOFError, MemoryError))

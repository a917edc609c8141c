"""Takes marks out of a stream of bytes that may contain anything but the number they begin with."""

from __future__ import annotations

from typing import NamedTuple

from .problems import unreadable

_LONGEST_MARK = 1 << 16


class Mark(NamedTuple):
    """A line that a script printed with `say WORDS...`."""

    words: tuple[bytes, ...]


class MarkReader:
    """Bytes go in as they arrive, content and marks come out as soon as they are certain."""

    def __init__(self, nonce: bytes) -> None:
        self._sign = b"\n" + nonce + b" "
        self._buffer = b""

    def feed(self, data: bytes) -> None:
        """Add the bytes that follow."""
        self._buffer = self._buffer + data if self._buffer else data

    def take(self) -> bytes | Mark | None:
        """The next content or mark; None where more bytes are needed to tell."""
        buffer = self._buffer
        place = buffer.find(self._sign)
        if place < 0:
            place = len(buffer) - self._length_of_doubt()
        if place > 0:
            self._buffer = buffer[place:]
            return buffer[:place]
        end = buffer.find(b"\n", 1) if buffer.startswith(self._sign) else -1
        if end < 0:
            if len(buffer) > _LONGEST_MARK:
                raise unreadable("a line of it does not end")
            return None
        self._buffer = buffer[end + 1 :]
        return Mark(tuple(buffer[len(self._sign) : end].split(b" ")))

    def _length_of_doubt(self) -> int:
        """How much of the end may be the beginning of a mark."""
        newline = self._buffer.rfind(b"\n", max(0, len(self._buffer) - len(self._sign) + 1))
        if newline < 0 or not self._sign.startswith(self._buffer[newline:]):
            return 0
        return len(self._buffer) - newline

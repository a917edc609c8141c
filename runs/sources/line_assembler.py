"""From pieces of bytes to whole lines: each once, in order, with its place in the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .pieces import Piece

LONGEST_LINE = 64 << 20
"""What one line may hold in memory; a log that lost its newlines must not take the machine."""


class Line(NamedTuple):
    """One line without its newline (a carriage return before it stays)."""

    data: bytes
    generation: int
    number: int
    """1-based within its generation."""
    offset: int
    """Of the line's first byte, in the file."""
    clipped: int = 0
    """Bytes of an overlong line that were left out at its end."""


class LineAssembler:
    """Splits at newlines only, and keeps the unterminated rest until it is complete."""

    def __init__(self, *, longest_line: int = LONGEST_LINE) -> None:
        self._longest_line = longest_line
        self._generation = -1
        self._pending = bytearray()
        self._clipped = 0
        self._number = 1
        self._offset = 0

    @property
    def provisional(self) -> bytes:
        """The last text so far, if no newline has ended it yet."""
        return bytes(self._pending)

    @property
    def provisional_line(self) -> Line | None:
        """The same with its place; None if the last line is complete."""
        return self._line() if self._length else None

    def feed(self, pieces: Iterable[Piece]) -> list[Line]:
        """Lines that these pieces complete; the end of a generation completes its last line."""
        lines: list[Line] = []
        for piece in pieces:
            if piece.generation != self._generation:
                self._finish(lines)
                self._generation = piece.generation
                self._offset = piece.offset
            self._split(piece.data, lines)
            if piece.ends:
                self._finish(lines)
        return lines

    @property
    def _length(self) -> int:
        return len(self._pending) + self._clipped

    def _line(self) -> Line:
        data = bytes(self._pending)
        return Line(data, self._generation, self._number, self._offset, self._clipped)

    def _split(self, data: bytes, lines: list[Line]) -> None:
        first, *whole = data.split(b"\n")
        self._hold(first)
        if not whole:
            return
        rest = whole.pop()
        lines.append(self._line())
        offset = self._offset + self._length + 1
        for number, text in enumerate(whole, self._number + 1):
            clipped = max(0, len(text) - self._longest_line)
            kept = text[: self._longest_line] if clipped else text
            lines.append(Line(kept, self._generation, number, offset, clipped))
            offset += len(text) + 1
        self._number += 1 + len(whole)
        self._offset = offset
        self._pending.clear()
        self._clipped = 0
        self._hold(rest)

    def _hold(self, text: bytes) -> None:
        room = self._longest_line - len(self._pending)
        self._pending += text if len(text) <= room else text[:room]
        self._clipped += max(0, len(text) - room)

    def _finish(self, lines: list[Line]) -> None:
        if self._length:
            lines.append(self._line())
        self._pending.clear()
        self._clipped = 0
        self._number = 1
        self._offset = 0

"""Lines of a text addressed by byte offset: nothing has to be counted to show its end."""

from __future__ import annotations

from typing import NamedTuple

from .line_index import ReadAt

LONGEST_SHOWN = 64 << 10
BLOCK_BYTES = 128 << 10
WALL_BYTES = 32 << 20
"""A text that lost its newlines is broken at multiples of this, so that no search is endless."""


class TextLine(NamedTuple):
    """One line without its newline, at most the beginning (or a bar's last states) of it."""

    offset: int
    """Of the line's first byte."""
    end: int
    """Where the next line begins."""
    data: bytes
    clipped: int = 0
    """Bytes that were left out."""

    @property
    def is_complete(self) -> bool:
        """True once a newline ended the line."""
        return self.end - self.offset > len(self.data) + self.clipped


class TextLines:
    """Reads lines around any place of a text of known size; the owner lets it grow.

    A line ends at a newline. A wall is an end too if the whole stretch before it has none.
    """

    def __init__(
        self,
        read_at: ReadAt,
        *,
        longest: int = LONGEST_SHOWN,
        block_bytes: int = BLOCK_BYTES,
        wall_bytes: int = WALL_BYTES,
    ) -> None:
        self._read_at = read_at
        self._longest = longest
        self._block = block_bytes
        self._wall = wall_bytes
        self.start = 0
        """Where the text begins: a file may start with a hole."""
        self.size = 0
        """Where it ends; what is behind that is not looked at."""

    def lines_from(self, offset: int, count: int) -> list[TextLine]:
        """Lines from the one that begins at `offset` on."""
        lines: list[TextLine] = []
        offset = max(offset, self.start)
        while len(lines) < count and offset < self.size:
            block = self._read(offset, self._block)
            if not block:
                break
            position = 0
            while len(lines) < count and (newline := block.find(b"\n", position)) >= 0:
                lines.append(self._line(offset + position, block[position:newline], newline=True))
                position = newline + 1
            if position == 0:
                lines.append(self._long_line(offset, block))
                position = lines[-1].end - offset
            offset += position
        return lines

    def lines_before(self, offset: int, count: int) -> list[TextLine]:
        """Lines up to the one that ends where `offset` begins, in their order."""
        offset = min(offset, self.size)
        starts = self._starts_before(offset, count)
        if not starts:
            return []
        lines = self.lines_from(starts[-1], len(starts))
        return [line for line in lines if line.offset < offset]

    def last_lines(self, count: int) -> list[TextLine]:
        """The last lines, the unterminated one included."""
        return self.lines_before(self.size, count)

    def line_start(self, offset: int) -> int:
        """Where the line begins that holds the byte at `offset`."""
        offset = max(self.start, min(offset, self.size - 1))
        return self._start_of(self._content_end(offset + 1))

    def _read(self, offset: int, length: int) -> bytes:
        length = min(length, self.size - offset)
        return self._read_at(offset, length) if length > 0 else b""

    def _line(self, offset: int, data: bytes, *, newline: bool) -> TextLine:
        end = offset + len(data) + newline
        if len(data) <= self._longest:
            return TextLine(offset, end, data)
        kept = self._kept(data[: self._longest], data[-self._longest :])
        return TextLine(offset, end, kept, len(data) - len(kept))

    def _long_line(self, offset: int, head: bytes) -> TextLine:
        """A line that is longer than a block, or the unterminated rest of the text."""
        newline, end = self._find_end(offset, offset + len(head))
        length = end - offset
        if length <= len(head):
            return self._line(offset, head[:length], newline=newline)
        tail = self._read(end - self._longest, self._longest)
        kept = self._kept(head[: self._longest], tail)
        return TextLine(offset, end + newline, kept, length - len(kept))

    def _kept(self, head: bytes, tail: bytes) -> bytes:
        """The part of an overlong line that counts: what a bar showed last, else the beginning."""
        redrawn = tail.rstrip(b"\r").find(b"\r")
        return head if redrawn < 0 else tail[redrawn + 1 :]

    def _find_end(self, offset: int, position: int) -> tuple[bool, int]:
        """Whether a newline ends the line from `offset`, and where it is; searched from a place."""
        # The first wall with a whole stretch between itself and the line's beginning.
        wall = (offset + 2 * self._wall - 1) // self._wall * self._wall
        # A newline right behind the wall still belongs to the line before it.
        stop = min(wall + 1, self.size)
        while position < stop:
            block = self._read(position, min(self._wall, 1 << 20, stop - position))
            if not block:
                break
            newline = block.find(b"\n")
            if newline >= 0:
                return True, position + newline
            position += len(block)
        return False, min(position, wall)

    def _starts_before(self, offset: int, count: int) -> list[int]:
        """Where the lines before `offset` begin, the last one first."""
        starts: list[int] = []
        end = self._content_end(offset)
        while len(starts) < count and end >= self.start and offset > self.start:
            low = max(self.start, end - self._block)
            block = self._read(low, end - low)
            if len(block) < end - low:
                break
            position = len(block)
            while len(starts) < count and (newline := block.rfind(b"\n", 0, position)) >= 0:
                starts.append(low + newline + 1)
                position = newline
            if position == len(block):
                starts.append(self._start_of(end))
                offset = starts[-1]
                end = self._content_end(offset)
            else:
                offset, end = low + position + 1, low + position
        return starts

    def _content_end(self, offset: int) -> int:
        """Where the content of the line before `offset` ends."""
        return offset - (self._read(offset - 1, 1) == b"\n") if offset > self.start else offset

    def _start_of(self, end: int) -> int:
        """Where the line begins whose content ends at `end`."""
        wall = (end - 1) // self._wall * self._wall
        newline = self._find_back(max(wall, self.start), end)
        if newline < 0 and wall > self.start:
            newline = self._find_back(max(wall - self._wall, self.start), wall)
            if newline < 0 and wall - self._wall >= self.start:
                return wall
        return newline + 1 if newline >= 0 else self.start

    def _find_back(self, low: int, high: int) -> int:
        """Offset of the last newline in a stretch; -1 if it has none."""
        step = min(self._wall, 1 << 20)
        while high > low:
            first = max(low, high - step)
            newline = self._read(first, high - first).rfind(b"\n")
            if newline >= 0:
                return first + newline
            high = first
        return -1

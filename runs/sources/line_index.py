"""From a line number back to its text, without keeping the text.

`LineIndex` remembers where a line begins every quarter of a mebibyte or so and reads the rest
back from the file; `RecentLines` serves streams that cannot be read twice.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from itertools import islice

from .line_assembler import Line, LineAssembler
from .open_file import OpenFile
from .pieces import Piece

ReadAt = Callable[[int, int], bytes]
"""Up to so many bytes (second) from an offset (first); empty if they are no longer there."""

STRIDE_BYTES = 256 << 10
MOST_ENTRIES = 1 << 16
"""Past this (16 GiB at the first stride) every second entry goes: a mebibyte is the limit."""
LONGEST_SHOWN = 64 << 10
_BLOCK = 64 << 10


def file_reader(path: str | os.PathLike[str], *, identity: tuple[int, int] | None = None) -> ReadAt:
    """Read from a path as long as it holds the file with this device and inode (if given)."""

    def read_at(offset: int, length: int) -> bytes:
        try:
            file = OpenFile.at(path)
        except OSError:
            return b""
        try:
            if identity is not None and file.key != identity:
                return b""
            return os.pread(file.descriptor, length, offset)
        except OSError:
            return b""
        finally:
            file.close()

    return read_at


class LineIndex:
    """Where the lines of one generation begin; fed with the same bytes as everybody else."""

    def __init__(
        self,
        read_at: ReadAt,
        *,
        generation: int = 0,
        start: int = 0,
        stride_bytes: int = STRIDE_BYTES,
        most_entries: int = MOST_ENTRIES,
    ) -> None:
        self._read_at = read_at
        self._generation = generation
        self._stride = stride_bytes
        self._most_entries = most_entries
        self._numbers = array("Q", [1])
        self._offsets = array("Q", [start])
        self._newlines = 0
        self._size = start
        self._ends_in_newline = True

    @property
    def lines(self) -> int:
        """How many lines there are, the unterminated last one included."""
        return self._newlines + (not self._ends_in_newline)

    @property
    def size(self) -> int:
        """Offset behind the last byte that was fed."""
        return self._size

    @property
    def entries(self) -> int:
        """How many line beginnings are remembered."""
        return len(self._numbers)

    def extend(self, data: bytes) -> None:
        """Count the lines in the bytes that follow."""
        counted = 0
        while True:
            wanted = self._offsets[-1] + self._stride
            newline = data.find(b"\n", max(0, wanted - 1 - self._size))
            if newline < 0:
                break
            self._newlines += data.count(b"\n", counted, newline + 1)
            counted = newline + 1
            self._remember(self._newlines + 1, self._size + counted)
        self._newlines += data.count(b"\n", counted)
        self._size += len(data)
        if data:
            self._ends_in_newline = data.endswith(b"\n")

    def read_lines(
        self, first: int, count: int, *, longest_line: int = LONGEST_SHOWN
    ) -> list[Line]:
        """Lines from the 1-based `first` on, as many of them as can still be read back."""
        number = max(1, first)
        offset = self._find(number)
        lines: list[Line] = []
        assembler = LineAssembler(longest_line=longest_line)
        while len(lines) < count and offset is not None and offset < self._size:
            block = self._block(offset)
            if not block:
                return lines
            offset += len(block)
            is_last = offset >= self._size
            piece = Piece(self._generation, offset - len(block), block, ends=is_last)
            lines += assembler.feed([piece])
        return [line._replace(number=line.number + number - 1) for line in lines[:count]]

    def _remember(self, number: int, offset: int) -> None:
        self._numbers.append(number)
        self._offsets.append(offset)
        if len(self._numbers) > self._most_entries:
            self._numbers = self._numbers[::2]
            self._offsets = self._offsets[::2]
            self._stride *= 2

    def _block(self, offset: int) -> bytes:
        return self._read_at(offset, min(_BLOCK, self._size - offset))

    def _find(self, wanted: int) -> int | None:
        """Offset where a line begins; None if there is no such line or it is out of reach."""
        if wanted > self.lines:
            return None
        entry = bisect_right(self._numbers, wanted) - 1
        number, offset = self._numbers[entry], self._offsets[entry]
        while number < wanted:
            block = self._block(offset)
            if not block:
                return None
            newlines = block.count(b"\n")
            if number + newlines < wanted:
                number += newlines
                offset += len(block)
                continue
            end = -1
            for _ in range(wanted - number):
                end = block.find(b"\n", end + 1)
            return offset + end + 1
        return offset


class RecentLines:
    """The newest lines of a stream that cannot be read back, within a limit of bytes."""

    _OVERHEAD = 150
    """What Python needs for a line besides its text."""

    def __init__(self, *, max_bytes: int = 64 << 20) -> None:
        self._max_bytes = max_bytes
        self._kept: deque[Line] = deque()
        self._bytes = 0

    @property
    def oldest(self) -> int:
        """Number of the first line still there; 0 if there is none."""
        return self._kept[0].number if self._kept else 0

    def append(self, line: Line) -> None:
        """Keep the next line, and let go of the oldest if there are too many bytes."""
        self._kept.append(line)
        self._bytes += len(line.data) + self._OVERHEAD
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            self._bytes -= len(self._kept.popleft().data) + self._OVERHEAD

    def read_lines(self, first: int, count: int) -> list[Line]:
        """Lines from the 1-based `first` on, those of them that are still there."""
        if not self._kept:
            return []
        skipped = first - self.oldest
        start, stop = max(0, skipped), max(0, skipped + count)
        return list(islice(self._kept, start, stop))

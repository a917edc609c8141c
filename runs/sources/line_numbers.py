"""Which number a line has and where a number's line begins, for what was counted so far."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from .line_index import LineIndex

_BLOCK = 64 << 10


class LineNumbers(LineIndex):
    """A line index that can be asked in both directions."""

    def offset_of(self, number: int) -> int | None:
        """Where the 1-based line begins; None if it was not counted yet."""
        return self._find(max(1, number))

    def numbers_at(self, offsets: Iterable[int]) -> list[int | None]:
        """Numbers of the lines that begin at rising offsets; None where it is not known yet."""
        numbers: list[int | None] = []
        place = known = 0
        for offset in offsets:
            entry = bisect_right(self._offsets, offset) - 1
            if offset > self.size or entry < 0:
                numbers.append(None)
                continue
            if self._offsets[entry] > place or not known:
                place, known = self._offsets[entry], self._numbers[entry]
            while place < offset and (block := self._read_at(place, min(_BLOCK, offset - place))):
                known += block.count(b"\n")
                place += len(block)
            numbers.append(known if place == offset else None)
        return numbers

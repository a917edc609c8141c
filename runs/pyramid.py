"""A pyramid over a growing column: extremes and sums of any stretch, whatever its length."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .columns import GrowingColumn
from .harvest import Floats, Ints

BASE = 64
"""Values in a block of the lowest level: half a byte of pyramid for each value."""
FACTOR = 8
"""Blocks in a block of the next level."""
_SLICE = 1 << 18
"""Values looked at together, so that a long column needs no second one beside it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known about some stretches of a column, one entry for each."""

    low: Floats
    """Smallest finite value; infinite if there is none."""
    high: Floats
    total: Floats
    """Sum of the finite values."""
    finite: Ints

    @classmethod
    def empty(cls, count: int) -> Summary:
        """Summaries of nothing, to be filled by `fold`."""
        return cls(
            np.full(count, np.inf),
            np.full(count, -np.inf),
            np.zeros(count),
            np.zeros(count, dtype=np.int64),
        )

    def fold(self, part: Summary, into: Ints) -> None:
        """Take in more of some stretches; `into` names each of them once."""
        self.low[into] = np.minimum(self.low[into], part.low)
        self.high[into] = np.maximum(self.high[into], part.high)
        with np.errstate(over="ignore", invalid="ignore"):
            self.total[into] += part.total
        self.finite[into] += part.finite

    def reduce(self, first: Ints) -> Summary:
        """Summaries of neighbouring entries taken together, each group from its first one on."""
        with np.errstate(over="ignore", invalid="ignore"):
            total: Floats = np.add.reduceat(self.total, first)
        return Summary(
            np.minimum.reduceat(self.low, first),
            np.maximum.reduceat(self.high, first),
            total,
            np.add.reduceat(self.finite, first),
        )

    def take(self, index: Ints | slice) -> Summary:
        """Some of the entries."""
        return Summary(self.low[index], self.high[index], self.total[index], self.finite[index])


def of_values(values: Floats) -> Summary:
    """Every value as a stretch of its own."""
    finite = np.isfinite(values)
    return Summary(
        np.where(finite, values, np.inf),
        np.where(finite, values, -np.inf),
        np.where(finite, values, 0.0),
        finite.astype(np.int64),
    )


def spread(starts: Ints, lengths: Ints) -> Ints:
    """The numbers of all entries of some stretches, one stretch after the other."""
    ends = np.cumsum(lengths)
    offsets = np.repeat(starts - (ends - lengths), lengths)
    found: Ints = np.arange(ends[-1] if len(ends) else 0, dtype=np.int64) + offsets
    return found


@dataclass(slots=True)
class _Level:
    """Full blocks of one size."""

    low: GrowingColumn[np.float64] = field(default_factory=lambda: GrowingColumn(np.float64))
    high: GrowingColumn[np.float64] = field(default_factory=lambda: GrowingColumn(np.float64))
    total: GrowingColumn[np.float64] = field(default_factory=lambda: GrowingColumn(np.float64))
    finite: GrowingColumn[np.int32] = field(default_factory=lambda: GrowingColumn(np.int32))

    def __len__(self) -> int:
        return len(self.low)

    def extend(self, part: Summary) -> None:
        self.low.extend(part.low)
        self.high.extend(part.high)
        self.total.extend(part.total)
        self.finite.extend(part.finite.astype(np.int32))

    def take(self, index: Ints | slice) -> Summary:
        return Summary(
            self.low.view()[index],
            self.high.view()[index],
            self.total.view()[index],
            self.finite.view()[index].astype(np.int64),
        )


class Pyramid:
    """Extremes, sums and counts of a column of values, in blocks of growing size."""

    def __init__(self) -> None:
        self._levels: list[_Level] = []
        self.low = np.inf
        self.high = -np.inf
        self.finite = 0
        self._count = 0

    @property
    def nbytes(self) -> int:
        """Bytes held by the levels."""
        return sum(
            column.nbytes
            for level in self._levels
            for column in (level.low, level.high, level.total, level.finite)
        )

    def extend(self, values: Floats) -> None:
        """Take in what a column has gained; `values` is all of it."""
        done = len(self._levels[0]) * BASE if self._levels else 0
        for start in range(done, len(values), _SLICE):
            piece = values[start : start + _SLICE]
            parts = of_values(piece)
            self._note(parts, max(0, self._count - start))
            full = len(piece) // BASE
            if full:
                blocks = parts.take(slice(0, full * BASE))
                self._add(0, blocks.reduce(np.arange(full) * BASE))
        self._count = len(values)

    def _note(self, parts: Summary, seen: int) -> None:
        if seen < len(parts.low):
            self.low = min(self.low, float(parts.low[seen:].min()))
            self.high = max(self.high, float(parts.high[seen:].max()))
            self.finite += int(parts.finite[seen:].sum())

    def _add(self, depth: int, blocks: Summary) -> None:
        if depth == len(self._levels):
            self._levels.append(_Level())
        level = self._levels[depth]
        level.extend(blocks)
        above = len(self._levels[depth + 1]) if depth + 1 < len(self._levels) else 0
        full = len(level) // FACTOR
        if full > above:
            group = level.take(slice(above * FACTOR, full * FACTOR))
            self._add(depth + 1, group.reduce(np.arange(full - above) * FACTOR))

    def summarise(self, values: Floats, starts: Ints, stops: Ints) -> Summary:
        """What is known about the stretches from `starts` up to (not with) `stops`.

        Exact at both ends: single values up to the first full block, small blocks up to the
        first large one, and back. So a stretch costs the same whatever its length.
        """
        answer = Summary.empty(len(starts))
        for depth in range(len(self._levels) + 1):
            if depth == len(self._levels):
                self._fold(answer, values, depth, starts, stops)
                break
            size = FACTOR if depth else BASE
            first, last = -(-starts // size), stops // size
            has_blocks = first < last
            self._fold(answer, values, depth, starts, np.where(has_blocks, first * size, stops))
            self._fold(answer, values, depth, np.where(has_blocks, last * size, stops), stops)
            if not has_blocks.any():
                break
            starts, stops = np.where(has_blocks, first, 0), np.where(has_blocks, last, 0)
        return answer

    def _fold(self, answer: Summary, values: Floats, depth: int, starts: Ints, stops: Ints) -> None:
        lengths = stops - starts
        into = np.flatnonzero(lengths > 0)
        if not len(into):
            return
        lengths = lengths[into]
        index = spread(starts[into], lengths)
        parts = self._levels[depth - 1].take(index) if depth else of_values(values[index])
        answer.fold(parts.reduce(np.cumsum(lengths) - lengths), into)

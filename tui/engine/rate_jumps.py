"""Abrupt changes of a learning rate, told from warm-ups and schedules that only go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mltd.runs.harvest import Floats, Ints
from mltd.runs.series import Series

LEAST_CHANGE = 0.2
"""Part of the larger rate by which two neighbouring points differ."""
_TIMES_NEIGHBOURS = 4.0
"""A step of a schedule is about as large as the ones beside it; a jump is not."""
_FLOOR = 1e-3
"""Part of the largest rate nearby under which rates count as equal to it."""
_MOST = 256


@dataclass(frozen=True, slots=True)
class RateJump:
    """One abrupt change."""

    point: int
    """The first point with the new rate."""
    before: float
    after: float
    size: float
    """Logarithm of the factor, of either sign."""


class RateJumps:
    """Looks through a series of learning rates once; new points cost themselves."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self._begin()

    def _begin(self) -> None:
        self.found: list[RateJump] = []
        self._seen = 0
        self._dropped = self.series.dropped
        self._tail: Ints = np.empty(0, dtype=np.int64)
        """The last three usable points: the move between two needs one on either side."""

    def update(self) -> None:
        """Take in the new points."""
        if self._dropped != self.series.dropped:
            self._begin()
        count = len(self.series)
        if count == self._seen:
            return
        values = self.series.values
        fresh = self._seen + np.flatnonzero(np.isfinite(values[self._seen :]))
        self._seen = count
        points = np.concatenate([self._tail, fresh])
        self._tail = points[-3:]
        if len(points) < 4:
            return
        at, sizes = _jumps(values[points], self._distances(points))
        for place, size in zip(at.tolist(), sizes.tolist(), strict=True):
            before, after = float(values[points[place - 1]]), float(values[points[place]])
            self.found.append(RateJump(int(points[place]), before, after, size))
        if len(self.found) > _MOST:
            self.found = self.largest(_MOST // 2)

    def largest(self, most: int) -> list[RateJump]:
        """The largest changes, in the order in which they happened."""
        chosen = sorted(self.found, key=lambda jump: -jump.size)[:most]
        return sorted(chosen, key=lambda jump: jump.point)

    def _distances(self, points: Ints) -> Floats:
        """Lines between neighbouring points: old ones may have been left out unevenly."""
        lines = self.series.coordinates.line.view()[self.series.rows[points]]
        return np.maximum(np.diff(lines), 1).astype(np.float64)


def _jumps(values: Floats, distances: Floats) -> tuple[Ints, Floats]:
    """Places behind abrupt moves, and the logarithms of their factors."""
    size = np.abs(values)
    with np.errstate(over="ignore"):
        moves = np.abs(np.diff(values))
    is_large = moves[1:-1] > LEAST_CHANGE * np.maximum(size[1:-2], size[2:-1])
    # Few moves are large: only those are looked at closely, with the points around them.
    first = np.flatnonzero(is_large)
    around = size[first[:, None] + np.arange(4)]
    floor = np.maximum(_FLOOR * around.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    turns = np.abs(np.diff(np.log(np.maximum(around, floor)), axis=1))
    beside = first[:, None] + np.arange(3)
    is_abrupt = _stands_out(turns) & _stands_out(moves[beside])
    is_abrupt &= _stands_out(moves[beside] / distances[beside])
    return first[is_abrupt] + 2, turns[is_abrupt, 1]


def _stands_out(three: Floats) -> npt.NDArray[np.bool_]:
    """True where the middle one of three neighbours is much larger than the others."""
    found: npt.NDArray[np.bool_] = three[:, 1] > _TIMES_NEIGHBOURS * np.maximum(
        three[:, 0], three[:, 2]
    )
    return found

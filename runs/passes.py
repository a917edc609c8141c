"""Passes over an axis: the stretches of a series on which its coordinate never goes back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .columns import GrowingColumn
from .harvest import Floats, Ints
from .series import Series

Bools = npt.NDArray[np.bool_]

OFTEN = 0.02
"""A coordinate that falls more often than this was written by several processes at once."""
MANY_FALLS = 16
MOST_STRETCHES = 256
"""A coordinate with more passes than this is a counter of something smaller than the run."""
FURTHEST = 1e300
"""No axis counts as far as this: what claims to is not known."""
_SLICE = 1 << 18


class Passes:
    """Where a series is on one axis, found once for every point.

    A coordinate that falls all the time is no axis: then the points are spread evenly, in
    their order, over the range that it covers.
    """

    def __init__(self, series: Series, axis: str) -> None:
        self._series = series
        self._axis = axis
        self._starts: GrowingColumn[np.int32] = GrowingColumn(np.int32)
        self._stops: GrowingColumn[np.int32] = GrowingColumn(np.int32)
        self._last = np.nan
        self._seen = 0
        self._low, self._high = np.inf, -np.inf
        self.falls = 0
        self.known = 0
        """Points whose place on the axis is known."""

    def update(self, count: int) -> None:
        """Look at the points up to a number."""
        for start in range(self._seen, count, _SLICE):
            self._extend(start, min(count, start + _SLICE))
        self._seen = count

    def _extend(self, start: int, stop: int) -> None:
        x = self._raw(np.arange(start, stop))
        known = np.abs(x) < FURTHEST
        here = x[known]
        if len(here):
            self._low = min(self._low, float(here.min()))
            self._high = max(self._high, float(here.max()))
        before = np.concatenate([[self._last], x[:-1]])
        had = np.abs(before) < FURTHEST
        falls = known & had & (x < before)
        self.falls += int(falls.sum())
        self.known += len(here)
        self._starts.extend((start + np.flatnonzero(known & (~had | falls))).astype(np.int32))
        self._stops.extend((start + np.flatnonzero(had & (~known | falls))).astype(np.int32))
        self._last = float(x[-1])

    def _raw(self, points: Ints) -> Floats:
        if self._axis == "index":
            return points.astype(np.float64)
        return self._series.coordinates.axis(self._axis, self._series.rows[points])

    @property
    def nbytes(self) -> int:
        """Bytes held by the bounds of the stretches."""
        return self._starts.nbytes + self._stops.nbytes

    @property
    def extent(self) -> tuple[float, float] | None:
        """The smallest and the largest coordinate."""
        return (self._low, self._high) if self._low <= self._high else None

    @property
    def is_in_order(self) -> bool:
        """True if the coordinate is no axis, and points are placed by their order alone."""
        return len(self._starts) > MOST_STRETCHES or (
            self.falls > MANY_FALLS and self.falls > OFTEN * self._seen
        )

    @property
    def stretches(self) -> tuple[Ints, Ints]:
        """First points of the passes, and the points behind their last ones; oldest first."""
        if self.is_in_order:
            return np.zeros(1, dtype=np.int64), np.array([self._seen])
        starts = self._starts.view().astype(np.int64)
        stops = self._stops.view().astype(np.int64)
        if len(stops) < len(starts):
            stops = np.append(stops, self._seen)
        return starts, stops

    def x(self, points: Ints) -> Floats:
        """Where some points are; never falling within a stretch."""
        if not self.is_in_order:
            return self._raw(points)
        share = points / max(1, self._seen - 1)
        return np.minimum(self._low + (self._high - self._low) * share, self._high)

    def find(self, starts: Ints, stops: Ints, x: Floats, *, behind: Bools | bool = False) -> Ints:
        """First point of each stretch at its x or later; later than it where `behind` says so."""
        low, high = starts, stops
        while (is_open := low < high).any():
            middle = (low + high) // 2
            at = self.x(np.where(is_open, middle, starts))
            goes_right = is_open & ((at < x) | (behind & (at == x)))
            low = np.where(goes_right, middle + 1, low)
            high = np.where(is_open & ~goes_right, middle, high)
        return low

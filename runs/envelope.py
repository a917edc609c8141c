"""An envelope: one series in as many buckets as a screen has columns, nothing left out.

Each bucket has the extremes of its points, so a one-step spike among ten million points is in
the answer, and a count of those that are not finite. What was learnt about points is kept:
new ones cost themselves, and an answer costs the same for a thousand points and ten million.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .harvest import AXES, Floats, Ints
from .passes import Passes
from .pyramid import Pyramid, Summary, of_values, spread
from .series import Series

MOST_PASSES = 16
"""Passes told apart; of a run that went back more often, the oldest are put together."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """One pass over the axis in buckets that are not empty, left to right."""

    x: Floats
    """Middle between the first and the last point of a bucket."""
    low: Floats
    """Extremes and mean of the finite values, NaN where there are none."""
    high: Floats
    mean: Floats
    count: Ints
    bad: Ints
    """How many values are NaN or infinite."""

    def __len__(self) -> int:
        """Count the buckets."""
        return len(self.x)


class Envelope:
    """Draws one series at any scale; follows its growth, and notices when it was thinned."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self._begin()

    def _begin(self) -> None:
        self._pyramid = Pyramid()
        self._passes: dict[str, Passes] = {}
        self._axes: dict[str, bool] = {}
        self._count = 0
        self._dropped = self.series.dropped

    def update(self) -> bool:
        """Take in the new points; True if there were any."""
        if self._dropped != self.series.dropped:
            self._begin()
        count = len(self.series)
        if count == self._count:
            return False
        self._pyramid.extend(self.series.values)
        self._find_axes(self._count, count)
        self._count = count
        return True

    def _find_axes(self, start: int, stop: int) -> None:
        for axis in self.series.coordinates.axes:
            if not self._axes.get(axis):
                fresh = self.series.coordinates.axis(axis, self.series.rows[start:stop])
                self._axes[axis] = bool(np.isfinite(fresh).any())

    # -- the whole ------------------------------------------------------------------------

    @property
    def low(self) -> float:
        """The smallest finite value; NaN if there is none."""
        return self._pyramid.low if self._pyramid.finite else np.nan

    @property
    def high(self) -> float:
        """The largest finite value; NaN if there is none."""
        return self._pyramid.high if self._pyramid.finite else np.nan

    @property
    def bad(self) -> int:
        """How many of the values that are kept are NaN or infinite."""
        return self._count - self._pyramid.finite

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes on which at least one point has a place, best first."""
        return (*(axis for axis in AXES if self._axes.get(axis)), "index")

    @property
    def nbytes(self) -> int:
        """Bytes held beside those of the series."""
        return self._pyramid.nbytes + sum(passes.nbytes for passes in self._passes.values())

    def passes_over(self, axis: str) -> Passes:
        """Where the points are on an axis, up to date."""
        self.update()
        passes = self._passes.get(axis)
        if passes is None:
            passes = self._passes[axis] = Passes(self.series, axis)
        passes.update(self._count)
        return passes

    def extent(self, axis: str) -> tuple[float, float] | None:
        """The part of an axis that the series covers."""
        return self.passes_over(axis).extent

    # -- buckets --------------------------------------------------------------------------

    def buckets(
        self, axis: str, low: float | None, high: float | None, number: int
    ) -> list[Buckets]:
        """The points between two places, each pass in at most so many buckets, oldest first.

        Points whose place is not known are left out. A pass with no more points than buckets
        keeps each of them as it is.
        """
        passes = self.passes_over(axis)
        extent = passes.extent
        if extent is None or number < 1:
            return []
        left = extent[0] if low is None else low
        right = extent[1] if high is None else high
        starts, stops = passes.stretches
        first = passes.find(starts, stops, np.full(len(starts), left))
        last = passes.find(starts, stops, np.full(len(starts), right), behind=True)
        found = np.flatnonzero(first < last)
        edges = _edges(left, right, number)
        merged = len(starts) - MOST_PASSES + 1 if len(starts) > MOST_PASSES else 0
        groups = [np.array([stretch]) for stretch in found if stretch >= merged]
        if (old := found[found < merged]).size:
            groups.insert(0, old)
        return [self._pass(passes, first[group], last[group], edges) for group in groups]

    def _pass(self, passes: Passes, starts: Ints, stops: Ints, edges: Floats) -> Buckets:
        """Some stretches as one pass."""
        lengths = stops - starts
        number = len(edges) - 1
        if lengths.sum() <= number:
            points = spread(starts, lengths)
            x = passes.x(points)
            if len(starts) > 1:
                order = np.argsort(x, kind="stable")
                points, x = points[order], x[order]
            parts = of_values(self.series.values[points])
            return _finish(x, parts, np.ones(len(points), dtype=np.int64))
        # One row for each stretch, one column for each edge.
        shape = (len(starts), number - 1)
        inner = passes.find(
            np.repeat(starts, number - 1),
            np.repeat(stops, number - 1),
            np.tile(edges[1:-1], len(starts)),
        ).reshape(shape)
        bounds = np.column_stack([starts, inner, stops])
        begin, end = bounds[:, :-1].ravel(), bounds[:, 1:].ravel()
        filled = np.flatnonzero(begin < end)
        begin, end = begin[filled], end[filled]
        parts = self._pyramid.summarise(self.series.values, begin, end)
        left, right, count = passes.x(begin), passes.x(end - 1), end - begin
        if len(starts) > 1:
            order = np.argsort(filled % number, kind="stable")
            column = (filled % number)[order]
            group = np.flatnonzero(np.concatenate([[True], np.diff(column) > 0]))
            parts = parts.take(order).reduce(group)
            left = np.minimum.reduceat(left[order], group)
            right = np.maximum.reduceat(right[order], group)
            count = np.add.reduceat(count[order], group)
        return _finish(left / 2 + right / 2, parts, count)

    # -- single points --------------------------------------------------------------------

    def nearest(self, axis: str, x: float) -> int | None:
        """The point nearest to a place; of equally near ones the newest."""
        passes = self.passes_over(axis)
        starts, stops = passes.stretches
        if passes.extent is None:
            return None
        at = passes.find(starts, stops, np.full(len(starts), x))
        candidates = np.concatenate([np.maximum(at - 1, starts), np.minimum(at, stops - 1)])
        distance = np.abs(passes.x(candidates) - x)
        return int(candidates[distance == distance.min()].max())

    def at_or_after(self, axis: str, x: float) -> int | None:
        """The first point at a place or behind it, in the newest pass that covers the place.

        Where no pass does, the next point behind it, else the last point of all.
        """
        passes = self.passes_over(axis)
        starts, stops = passes.stretches
        if passes.extent is None:
            return None
        at = passes.find(starts, stops, np.full(len(starts), x))
        later = np.flatnonzero(at < stops)
        if not len(later):
            return int(stops[-1]) - 1
        covering = later[passes.x(starts[later]) <= x]
        if len(covering):
            return int(at[covering[-1]])
        places = passes.x(at[later])
        return int(at[later[places == places.min()][-1]])

    def place(self, axis: str, point: int) -> float:
        """Where a point is on an axis; NaN if that is not known."""
        return float(self.passes_over(axis).x(np.array([point]))[0])


class Envelopes:
    """The envelopes of the series of several runs."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, str], Envelope] = {}

    def of(self, run: int, series: Series) -> Envelope:
        """The envelope of a series of a run, up to date."""
        key = (run, series.file, series.name)
        envelope = self._known.get(key)
        if envelope is None or envelope.series is not series:
            envelope = self._known[key] = Envelope(series)
        envelope.update()
        return envelope

    def __len__(self) -> int:
        """Count the envelopes."""
        return len(self._known)

    def forget(self, run: int) -> None:
        """Let go of a run that nobody looks at any more."""
        self._known = {key: one for key, one in self._known.items() if key[0] != run}


def _edges(left: float, right: float, number: int) -> Floats:
    share = np.arange(number + 1) / number
    return np.maximum.accumulate(left * (1.0 - share) + right * share)


def _finish(x: Floats, parts: Summary, count: Ints) -> Buckets:
    has_finite = parts.finite > 0
    low = np.where(has_finite, parts.low, np.nan)
    high = np.where(has_finite, parts.high, np.nan)
    mean = parts.total / np.maximum(parts.finite, 1)
    # A sum of huge values is no number, but their mean is between them all the same.
    mean = np.where(np.isfinite(mean), mean, low / 2 + high / 2)
    return Buckets(x, low, high, np.clip(mean, low, high), count, count - parts.finite)

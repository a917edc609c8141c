"""The stretch over which two runs are compared: the last one that both have reached.

A window is the last tenth of what they share, more where that would be too few points to say
anything, but never more than the last half: what a run was like early on says little about where
it ends. Too few points even so: the last tenth, and no statistics.

Where the incident begins inside a window, the window begins there, if enough is left of it: before
and after a jump are two different things, and the jump between them is no noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mltd.analyzers.core.glance import has_axis, points_of
from mltd.runs.harvest import Floats
from mltd.runs.series import Series

from .pairs import Pair

_AXES = ("step", "epoch", "tokens", "samples")
"""Where two runs can meet; moments of the clock they do not share."""
ENOUGH = 5
"""Points of each run in the window, below which nothing can be said about their noise."""
_WANTED = 20
_SHARE, _MOST = 0.1, 0.5
"""Of the shared stretch: what is taken, and what is taken at most where points are few."""


@dataclass(frozen=True, slots=True)
class Side:
    """One run's points on the axis; those of the window are `low` to `high`."""

    x: Floats
    y: Floats
    start: int
    """First point of the stretch that both runs have been on."""
    low: int
    high: int

    @property
    def window(self) -> tuple[Floats, Floats]:
        """Places and values over which a level is taken."""
        return self.x[self.low : self.high], self.y[self.low : self.high]

    @property
    def shared(self) -> tuple[Floats, Floats]:
        """Places and values of the whole stretch that both have been on."""
        return self.x[self.start : self.high], self.y[self.start : self.high]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A metric of both runs on one axis."""

    axis: str
    window: tuple[float, float] | None
    before: Side | None
    after: Side | None


def align(pair: Pair, *, at_end: bool = False) -> Aligned:
    """Put both on the first axis that they share, else beside each other by their ends.

    `at_end`: by their ends in any case, however far each of them went.
    """
    axis, sides = _axis_of(pair.known), (pair.before, pair.after)
    axis = "final" if at_end else axis
    if axis == "final":
        ends = [None if series is None else own_window(series) for series in sides]
        return Aligned(axis, None, ends[0], ends[1])
    points = [None if series is None else points_of(series, axis) for series in sides]
    known = [x for x, _ in filter(None, points) if len(x)]
    if not known:
        return Aligned(axis, None, None, None)
    start, end = max(float(x[0]) for x in known), min(float(x[-1]) for x in known)
    low = _window_start(known, start, end)
    cut = [None if one is None else _side(*one, start, low, end) for one in points]
    seen = [float(side.window[0][0]) for side in cut if side is not None and side.high]
    return Aligned(axis, (min(seen), end), cut[0], cut[1])


def begin_at(aligned: Aligned, place: float) -> Aligned:
    """The same with a window that begins at a place inside it, if enough points are behind it."""
    before, after, window = aligned.before, aligned.after, aligned.window
    if before is None or after is None or window is None or not window[0] < place <= window[1]:
        return aligned
    sides = [replace(s, low=int(np.searchsorted(s.x, place))) for s in (before, after)]
    if any(side.high - side.low < ENOUGH for side in sides):
        return aligned
    start = min(float(side.x[side.low]) for side in sides)
    return Aligned(aligned.axis, (start, window[1]), sides[0], sides[1])


def own_window(series: Series) -> Side:
    """The end of one run by itself."""
    x, y = points_of(series, _axis_of((series,)))
    if not len(x):
        return Side(x, y, 0, 0, 0)
    start, end = float(x[0]), float(x[-1])
    return _side(x, y, start, _window_start([x], start, end), end)


def _axis_of(known: tuple[Series, ...]) -> str:
    for axis in _AXES:
        if all(has_axis(series, axis) for series in known):
            return axis
    # Counts of points are places only where there is no other: else they hide what is known.
    has_any = any(has_axis(series, axis) for series in known for axis in _AXES)
    return "final" if has_any else "index"


def _window_start(known: list[Floats], start: float, end: float) -> float:
    span = max(0.0, end - start)
    usual = end - _SHARE * span
    low = usual
    for x in known:
        count = int(np.searchsorted(x, end, side="right"))
        if count:
            low = min(low, float(x[max(0, count - _WANTED)]))
    low = max(low, end - _MOST * span)
    has_enough = all(
        np.searchsorted(x, end, side="right") - np.searchsorted(x, low) >= ENOUGH for x in known
    )
    return low if has_enough else usual


def _side(x: Floats, y: Floats, start: float, low: float, end: float) -> Side:
    high = int(np.searchsorted(x, end, side="right"))
    # A run that logs seldom may have nothing in the last tenth: then its last value.
    first = min(int(np.searchsorted(x, low)), max(0, high - 1))
    return Side(x, y, min(int(np.searchsorted(x, start)), first), first, high)

"""The level of a metric over a window, and the noise around it.

A falling loss is not noise: a straight line is taken off before the noise is looked at, and the
level is read off that line at a place which both runs share, so that runs that log at different
steps are compared at the same one. One odd batch does not decide: what is more than five spreads
away from the line is pulled in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats

_FAR = 5.0
"""Spreads; ordinary noise is hardly ever that far away."""
_OF_MEDIAN_DEVIATION, _OF_MIDDLE_RANGE = 1.4826, 2.5631
"""Standard deviation of normal noise per median deviation; its range of 10 % to 90 % in those."""


@dataclass(frozen=True, slots=True)
class Level:
    """Where a metric is, in units of a scale that both runs have in common."""

    value: float
    noise: Floats
    """Deviations from the line, in the order of the points; their mean is 0."""
    spread: float
    place: Floats
    """Where on the axis the finite points are."""


def scale_of(*values: Floats) -> float:
    """A power of two about as large as the largest value: in its units nothing overflows."""
    largest = max((float(np.abs(y[np.isfinite(y)]).max(initial=0.0)) for y in values), default=0.0)
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


def level_of(x: Floats, y: Floats, at: float | None = None) -> Level | None:
    """The level at a place, by default the middle of the points; None if no point is finite."""
    is_finite = np.isfinite(y)
    x, y = x[is_finite], y[is_finite]
    if not len(y):
        return None
    centre = float(x.mean())
    line = _resistant_slope(x, y) * (x - centre)
    off = y - line
    middle = float(np.median(off))
    spread = _spread(off - middle)
    held = np.clip(off - middle, -_FAR * spread, _FAR * spread)
    rest = _slope(x, held)
    base = float(held.mean())
    noise = held - base - rest * (x - centre)
    slope = _resistant_slope(x, y) + rest
    value = middle + base + (0.0 if at is None else slope * (at - centre))
    return Level(value, noise, _spread(noise), x)


def _spread(deviations: Floats) -> float:
    """Standard deviation without a thought for the outermost tenths."""
    low, high = np.quantile(deviations, (0.1, 0.9))
    by_median = _OF_MEDIAN_DEVIATION * float(np.median(np.abs(deviations)))
    # Where most values are the very same, the median deviation is 0 though there is noise.
    return max(by_median, float(high - low) / _OF_MIDDLE_RANGE)


def _resistant_slope(x: Floats, y: Floats) -> float:
    """From the median of the first third to that of the last: no single point can turn it."""
    third = len(x) // 3
    if third < 1:
        return 0.0
    run = float(np.mean(x[-third:]) - np.mean(x[:third]))
    return float(np.median(y[-third:]) - np.median(y[:third])) / run if run > 0 else 0.0


def _slope(x: Floats, y: Floats) -> float:
    off = x - x.mean()
    square = float(off @ off)
    return float(off @ y) / square if square > 0 and np.isfinite(square) else 0.0

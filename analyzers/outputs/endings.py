"""How a curve ends: stretches at its end that hold a property, in bounded time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mltd.runs.harvest import Floats

from ..core.curve import Curve

Test = Callable[[Floats], npt.NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Ending:
    """The last part of a curve, from the point at which a property began to hold for good."""

    start: int
    """Position of its first point."""
    points: int
    share: float
    """Of the whole curve."""
    level: float
    """Median of its values."""


def ending(curve: Curve, holds: Test, least_points: int, least_share: float) -> Ending | None:
    """The stretch up to the last point over which all finite values hold a property."""
    _, _, mean, _, _, counts = curve.bins
    known = np.flatnonzero(counts > 0)
    if len(known) == 0:
        return None
    values = mean[known]
    with np.errstate(invalid="ignore", over="ignore"):
        failing = np.flatnonzero(~holds(values))
    first = int(failing[-1]) + 1 if len(failing) else 0
    if first >= len(values):
        return None
    start = min(int(known[first]) * curve.bin_width, len(curve) - 1)
    points = int(counts[known[first:]].sum())
    share = points / max(1, int(counts.sum()))
    if points < least_points or share < least_share:
        return None
    return Ending(start, points, share, float(np.median(values[first:])))


def smooth_levels(curve: Curve) -> Floats:
    """The curve's finite bin means, averaged over a twentieth of it."""
    _, _, mean, _, _, counts = curve.bins
    values = mean[counts > 0]
    width = max(1, len(values) // 20)
    if len(values) < 2 or width == 1:
        return values
    with np.errstate(invalid="ignore", over="ignore"):
        smooth = np.convolve(values, np.ones(width) / width, mode="valid")
    return smooth[np.isfinite(smooth)]


def first_level(curve: Curve) -> float:
    """Median of the first twentieth, NaN without a finite value."""
    _, _, mean, _, _, counts = curve.bins
    values = mean[counts > 0]
    return float(np.median(values[: max(1, len(values) // 20)])) if len(values) else np.nan


def last_level(curve: Curve) -> float:
    """Median of the last fifth, NaN without a finite value."""
    _, _, mean, _, _, counts = curve.bins
    values = mean[counts > 0]
    return float(np.median(values[-max(1, len(values) // 5) :])) if len(values) else np.nan

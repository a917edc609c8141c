"""The shape of a loss curve: where it began, its best, where it is, and how sure that is.

All from at most a few dozen windows, so that noise within a window (also noise that hangs
together over many points) is seen for what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.view import RunView

WINDOWS = 40
_PER_BEND = 1.4826 / 6.0**0.5
"""Standard deviation of a level, from the median bend: it has six times the variance."""
FEW = 24
"""Points below which each is looked at by itself: epochs rather than steps."""
SHORT = 72
"""Points up to which a list of them is read at a glance."""

_DOUBT, _NO_DOUBT = 2.0, 8.0
"""Errors of a slope."""
LEAST_FALL = 0.06
"""Share of the level from which on a steady fall is progress."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A curve in windows of equally many points."""

    points: int
    """Finite points."""
    first: float
    """Level of the first few points."""
    levels: Floats
    """Median of each window."""
    starts: Floats
    """Step at which each window begins."""
    error: float
    """How far a window's level may be off by chance."""

    @property
    def last(self) -> float:
        """Level of the last window."""
        return float(self.levels[-1])

    @property
    def best_window(self) -> int:
        """Number of the lowest window."""
        return int(np.argmin(self.levels))

    @property
    def best(self) -> float:
        """Level of the lowest window."""
        return float(self.levels[self.best_window])

    @property
    def fall(self) -> float:
        """From the beginning to the best, never below 0."""
        return max(0.0, self.first - self.best)

    @property
    def hangs_together(self) -> bool:
        """Whether neighbouring windows err alike, as under a running mean longer than they are."""
        bends = _bends(self.levels)
        if len(bends) < 8:
            return True
        # One jump must not outweigh all the rest.
        usual = np.clip(bends, -3 * np.sqrt(6.0) * self.error, 3 * np.sqrt(6.0) * self.error)
        total = float(usual @ usual)
        return total <= 0 or float(usual[1:] @ usual[:-1]) / total > -0.5

    def errors_of_rise(self, low: float, high: float) -> float:
        """A rise in errors of a level, or in shares of it: noise often grows with the loss."""
        errors = (high - low) / self.error
        if low <= 0 or not np.all(self.levels > 0):
            return errors
        # Noise that does not grow with the loss is the larger share of it where the loss is low.
        bends = np.abs(_bends(np.log(self.levels)))
        halves = bends[: len(bends) // 2], bends[len(bends) // 2 :]
        share = max(float(np.median(half)) for half in halves) * _PER_BEND
        return max(errors, float(np.log(high / low)) / max(share, self.error / high))

    @property
    def gain(self) -> float:
        """Share of the first level that is gone at the end; negative if it rose."""
        return (self.first - self.last) / abs(self.first) if self.first else 0.0


def shape_of(curve: Curve) -> Shape | None:
    """The shape of a curve, None if it has too few points to have one."""
    return curve.memo("shape", _shape)


def _shape(curve: Curve) -> Shape | None:
    start, _, mean, _, _, counts = curve.bins
    known = (counts > 0) & np.isfinite(mean) & (np.abs(mean) < 1e30)
    values, steps = mean[known], start[known]
    if len(values) < 4:
        return None
    count = len(values) if len(values) < FEW else min(WINDOWS, len(values) // 3)
    edges = np.linspace(0, len(values), count + 1).astype(int)
    levels = np.array([np.median(values[a:b]) for a, b in pairwise(edges)])
    return Shape(
        points=int(counts.sum()),
        first=first_level(curve),
        levels=levels,
        starts=steps[edges[:-1]],
        error=max(_error(levels), curve.grain / 2, 1e-12),
    )


def point_by_point(curve: Curve) -> Shape | None:
    """The shape of a short curve with every point for itself; None if it is long."""
    if not 4 <= int(curve.bins[5].sum()) <= SHORT:
        return None
    known = np.isfinite(curve.y)
    values = curve.y[known]
    return Shape(
        points=len(values),
        first=float(values[0]),
        levels=values,
        starts=curve.x[known],
        error=max(_error(values), 1e-12),
    )


def _error(levels: Floats) -> float:
    """Robust deviation of windows from the line through their neighbours."""
    if len(levels) < 5:
        return float(np.median(np.abs(np.diff(levels)))) / 2
    return float(np.median(np.abs(_bends(levels)))) * _PER_BEND


def _bends(levels: Floats) -> Floats:
    """What is left of the later windows without any line; of noise, 2/3 of it turns back."""
    bends = levels[2:] - 2 * levels[1:-1] + levels[:-2]
    # The steep beginning bends by itself; what the later windows do is noise.
    return bends[len(bends) // 3 :]


def first_level(curve: Curve) -> float:
    """Where the curve began: the median of its first few finite points."""
    head = curve.y[: max(64, len(curve) // 50)]
    head = head[np.isfinite(head)]
    return float(np.median(head[: max(1, min(5, len(curve) // 20))])) if len(head) else np.nan


def loss_range(curve: Curve) -> float:
    """How far the loss fell from its beginning to its best; never 0."""
    shape = shape_of(curve)
    if shape is None:
        return np.inf
    return float(max(shape.fall, 1e-3 * abs(shape.best), 1e-12))


def begins_at_start(curve: Curve) -> bool:
    """True if the log shows the beginning of the training, not a later stretch of it."""
    return len(curve) > 0 and curve.x[0] <= max(0.05 * curve.x[-1], 5 * curve.spacing, 1.0)


def level_at(curve: Curve, step: float) -> float:
    """Median of the curve around a step."""
    at = int(np.searchsorted(curve.x, step, side="right"))
    reach = max(1, min(32, len(curve) // 20))
    near = curve.y[max(0, at - reach) : at + max(1, reach // 4)]
    near = near[np.isfinite(near)]
    return float(np.median(near)) if len(near) else float("nan")


def is_warming_up(view: RunView, curve: Curve, share: float = 0.5) -> bool:
    """True while the learning rate rises, and for a while after it reached its peak."""
    warm = view.facts.warmup_until
    if warm is None or len(curve) == 0:
        return False
    return bool(curve.x[-1] < warm + max(16 * curve.spacing, share * warm))


def is_too_coarse(view: RunView, curve: Curve) -> bool:
    """True if the printed digits hide changes that would matter."""
    if not view.facts.is_quantised(curve):
        return False
    tail = curve.y[-64:]
    tail = tail[np.isfinite(tail)]
    return len(tail) == 0 or curve.grain > 0.005 * abs(float(np.median(tail)))


def goes_on_falling(
    curve: Curve, since: float = -np.inf, fall: float = np.inf, least: float = LEAST_FALL
) -> bool:
    """True if a line through all points after a beginning falls by more than chance, and enough.

    Windows of a few dozen noisy points see nothing where hundreds of them agree on a slope. Enough
    is a share of the level, or half as fast as the whole curve fell by `fall`; `least` is enough
    of the level where the slope is beyond all doubt.
    """
    trend = trend_since(curve, since)
    if trend is None or trend.bins < 16 or trend.level == 0:
        return False
    enough = min(LEAST_FALL * trend.level, 0.5 * fall * trend.share)
    if trend.fall < min(enough, least * trend.level):
        return False
    # Whoever says that nothing is learned has to prove it: two errors are doubt enough.
    return trend.fall > (_DOUBT if trend.fall >= enough else _NO_DOUBT) * trend.error


class Trend(NamedTuple):
    """A line through a stretch of a curve."""

    bins: int
    """Bins of the curve in the stretch."""
    share: float
    """Share of the whole curve that the stretch is."""
    level: float
    """Absolute value of the median."""
    fall: float
    """How far the line falls over the stretch; negative if it rises."""
    error: float
    """Standard error of the fall."""


def trend_since(curve: Curve, since: float = -np.inf) -> Trend | None:
    """The line through all points from a step on; the first tenth of the curve never counts."""
    start, _, mean, _, _, counts = curve.bins
    known = (counts > 0) & np.isfinite(mean) & (np.abs(mean) < 1e30)
    known[: len(known) // 10] = False
    values = mean[known & (start >= since)]
    count = len(values)
    if count < 4:
        return None
    x = np.arange(count) - (count - 1) / 2
    slope = float(x @ values) / float(x @ x)
    rest = values - values.mean() - slope * x
    power = float(rest @ rest)
    # Neighbours that hang together are fewer observations than points.
    alike = min(0.9, max(0.0, float(rest[1:] @ rest[:-1]) / power)) if power > 0 else 0.0
    error = np.sqrt(power / (count - 2) / float(x @ x) * (1 + alike) / (1 - alike))
    level = abs(float(np.median(values)))
    return Trend(count, count / max(len(known), 1), level, -slope * count, float(error) * count)


def is_shown_flat(curve: Curve, since: float, tolerance: float) -> bool:
    """True if the points from a step on rule out a fall of more than the tolerance.

    That no fall is seen is not enough: under noise, or in a few points, a fall is not seen either.
    """
    trend = trend_since(curve, since)
    if trend is None:
        return False
    doubt = _DOUBT if trend.bins >= 16 else 1.5 * _DOUBT
    return trend.fall + doubt * trend.error <= tolerance

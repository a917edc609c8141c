"""Climbs of a gradient norm: how far, how long, and where each began."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.excursions import SETTLES, Excursion, ExcursionScan
from ..core.view import RunView

MANY = 10.0
"""Healthy norms exceed their median by up to this factor for more than a step only rarely."""
STEPS_BACK = 5


@dataclass(frozen=True, slots=True)
class Climb:
    """One stretch of a norm above its usual size, by positions in the curve."""

    start: int
    peak_at: int
    stop: int
    """Its last position."""
    end: int | None
    """Where it was back; None if it is not."""
    baseline: float
    peak: float
    over: int
    """Points of at least ten times the usual size."""
    is_sustained: bool

    @property
    def factor(self) -> float:
        """How many times the usual size it reached."""
        return self.peak / self.baseline if self.baseline > 0 else np.inf


_Scans = WeakKeyDictionary[Curve, tuple[int, Curve, ExcursionScan]]
_scans: _Scans = WeakKeyDictionary()
"""Scans of divided norms; one per curve, so that new points cost themselves alone."""


def climbs(view: RunView, curve: Curve) -> list[Climb]:
    """All climbs, in order; a norm that is multiplied by the loss scale is divided first."""
    scale = view.curve("loss_scale") if view.facts.is_grad_norm_scaled else None
    if scale is None or len(scale) != len(curve):
        return [_climb(curve.y, excursion) for excursion in curve.log_excursions]
    known = _scans.get(curve)
    if known is None or known[0] != len(curve.restarts) or len(known[2]) > len(curve):
        known = (len(curve.restarts), scale, ExcursionScan(floor=0.01))
        _scans[curve] = known
    scan, seen = known[2], len(known[2])
    divided = curve.y[seen:] / np.where(scale.y[seen:] > 0, scale.y[seen:], np.nan)
    scan.extend(np.log(np.where(divided > 0, divided, np.nan)))
    values = curve.y / np.where(scale.y > 0, scale.y, np.nan)
    return [_climb(values, excursion) for excursion in scan.found]


def _climb(values: Floats, excursion: Excursion) -> Climb:
    base = float(np.exp(excursion.baseline))
    last = excursion.start + SETTLES if excursion.end is None else excursion.end
    stop = max(excursion.start, min(last, len(values)) - 1)
    window = values[excursion.start : stop + 1]
    # An infinite norm is a step that overflowed; how far it climbed only numbers can say.
    finite = np.where(np.isfinite(window), window, -np.inf)
    peak_at = excursion.start + int(np.argmax(finite))
    peak = float(values[peak_at]) if np.isfinite(finite).any() else base
    over = int((finite >= MANY * base).sum())
    bad = int((~np.isfinite(window)).sum())
    ratios = values[excursion.start : peak_at + 1]
    before = values[max(0, excursion.start - 1) : peak_at][-len(ratios) :]
    doubles = ratios[-len(before) :] >= 2.0 * before if len(before) else np.empty(0, dtype=bool)
    is_doubling = len(doubles) >= 3 and bool((doubles[:-2] & doubles[1:-1] & doubles[2:]).any())
    return Climb(
        start=_foot(values, excursion),
        peak_at=peak_at,
        stop=stop,
        end=excursion.end,
        baseline=base,
        peak=peak,
        over=over,
        is_sustained=over >= 3 or (over >= 1 and (is_doubling or bad >= 2)),
    )


def _foot(values: Floats, excursion: Excursion) -> int:
    """Where the climb began: the points before it that were already rising above the usual."""
    start = excursion.start
    limit = np.exp(excursion.baseline + 2.0 * excursion.scale)
    while start > max(0, excursion.start - STEPS_BACK):
        if not limit < values[start - 1] < values[start]:
            break
        start -= 1
    return start

"""Criteria on the run after the change alone: it stays finite, it ends below or above a value."""

from __future__ import annotations

import math

import numpy as np

from ..model.criterion import Criterion, Demand
from . import wording
from .bootstrap import resample_one
from .case import Case
from .directions import kind_of
from .judged import FAILED, INCONCLUSIVE, PASSED, Judged, Weight, counted, more_points
from .levels import level_of, scale_of
from .measuring import Measured, lost_place
from .survival import outlives
from .windows import ENOUGH, own_window


def stays_finite(one: Measured) -> Judged:
    """No NaN and no infinity from the window on to the end of the run."""
    side, name = one.aligned.after, one.change.name
    if side is None or not len(side.y):
        return Judged(INCONCLUSIVE, f"there is no point of {name} yet", needed=ENOUGH)
    axis = "point" if one.aligned.axis in ("index", "final") else one.aligned.axis
    bad = np.flatnonzero(~np.isfinite(side.y[side.low :]))
    if len(bad):
        at = wording.place(float(side.x[side.low + bad[0]]))
        said = f"{name} is not finite at {axis} {at}"
        why = "it does not stay finite"
        return Judged(FAILED, said, why, is_excluded=True, weight=Weight.GRAVE)
    if one.change.before is not None and not math.isfinite(one.change.before):
        return outlives(one)
    last = wording.place(float(side.x[-1]))
    return Judged(PASSED, f"{name} is finite up to {axis} {last}", "it stays finite")


def is_beyond(one: Measured, criterion: Criterion, case: Case) -> Judged:
    """The level at the end of the run is below or above a value."""
    series = one.pair.after
    assert series is not None
    side, name = own_window(series), one.change.name
    if lost_place(side, kind_of(one.change.role)) is not None:
        said = f"{name} is not finite at its end"
        return Judged(FAILED, said, is_excluded=True, weight=Weight.GRAVE)
    x, y = side.window
    size = scale_of(y)
    level = level_of(x, y / size)
    if level is None:
        return Judged(INCONCLUSIVE, f"there is no point of {name} yet", needed=ENOUGH)
    value, bound = level.value * size, criterion.amount
    is_there = value < bound if criterion.demand is Demand.BELOW else value > bound
    outcome = PASSED if is_there else FAILED
    said = f"{name} ends at {wording.number(value)}"
    if len(series) == 1 and not case.is_running:
        # A final evaluation comes once: there will never be more of it.
        return Judged(outcome, f"{said}, measured once", is_excluded=not is_there)
    if len(level.place) < ENOUGH:
        needed = max(1, 2 * ENOUGH - len(side.y))
        why = f"too few points: {counted(needed, name)}"
        return Judged(INCONCLUSIVE, f"{said}: {why}", why, needed)
    low, high = (float(end) * size for end in np.quantile(resample_one(level), (0.025, 0.975)))
    said += f" (95% interval {wording.number(low)}..{wording.number(high)})"
    if low < bound < high:
        needed = more_points(len(side.y), (high - low) / 2, abs(value - bound))
        why = f"too close to {wording.number(bound)} to call: {counted(needed, name)}"
        return Judged(INCONCLUSIVE, f"{said}: {why}", why, needed)
    is_worse = one.gain is not None and one.gain.is_clearly_worse
    weight = Weight.GRAVE if is_worse and not is_there else Weight.PLAIN
    return Judged(outcome, said, is_excluded=not is_there, weight=weight)

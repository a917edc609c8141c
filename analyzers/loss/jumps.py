"""Jumps in curves of a few points, such as one per epoch: anyone sees them at a glance.

A range of deviations needs more points than such a run has. What there is instead: how far the loss
had fallen, and how far it ever went up from one point to the next before and since.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats

MOST = 64
"""Points from which on a curve has a range of its own."""
_FIRST = 3
"""Points before a jump that show where the loss was going."""
_OF_FALL = 0.3
"""Share of what was won that is gone at once,"""
_FACTOR = 1.5
"""times the value before that the next one is,"""
_OVER_OTHERS = 4.0
"""and times the largest other rise from one point to the next."""
_OF_FACTORS = 3.0
"""The same for the logarithm: noise may grow with the loss."""
_BACK = 0.25
"""Share of the jump that may be left where it counts as over."""


@dataclass(frozen=True, slots=True)
class Jump:
    """One point far above the one before it, by positions."""

    at: int
    before: float
    after: float
    peak_at: int
    peak: float
    back: int | None
    """First position where it has come back for good; None if it has not."""


def jump_at(values: Floats, at: int, *, of_fall: float = _OF_FALL) -> Jump | None:
    """The jump from the point before a position to it, if it is one."""
    before = values[:at]
    if at < _FIRST or at >= len(values) or not np.isfinite(values).all():
        return None
    low = float(before[-1])
    rise = float(values[at]) - low
    fall = float(before.max() - before.min())
    if rise <= 0 or rise < of_fall * fall or not values[at] > _FACTOR * abs(low):
        return None
    if fall < 0.3 * abs(float(before[0])) or low > float(before[0]) - 0.5 * fall:
        return None  # nothing was learned that could be lost
    peak_at = at
    while peak_at + 1 < min(len(values), at + 3) and values[peak_at + 1] >= values[peak_at]:
        peak_at += 1
    calm = np.diff(values)
    # What follows a jump is part of it until it has turned.
    calm[at - 1 : peak_at] = 0.0
    if rise < _OVER_OTHERS * max(0.0, float(calm.max(initial=0.0))):
        return None
    if low > 0 and np.log(values[at] / low) < _OF_FACTORS * _other_factor(values, at, peak_at):
        return None
    peak = float(values[peak_at])
    above = np.flatnonzero(values[peak_at:] > low + _BACK * (peak - low))
    back = peak_at + int(above[-1]) + 1
    return Jump(at, low, float(values[at]), peak_at, peak, back if back < len(values) else None)


def _other_factor(values: Floats, at: int, peak_at: int) -> float:
    """The largest other rise by its factor, where the loss is not all but gone."""
    others = np.ones(len(values) - 1, dtype=bool)
    others[at - 1 : peak_at] = False
    others &= (values[:-1] > 0.1 * values[at - 1]) & (values[1:] > 0)
    factors = np.log(values[1:][others] / values[:-1][others])
    return float(factors.max(initial=0.0))


def largest_jump(values: Floats) -> Jump | None:
    """The one jump of a short curve; several are how it goes."""
    if not _FIRST < len(values) <= MOST:
        return None
    found = [jump for at in range(_FIRST, len(values)) if (jump := jump_at(values, at)) is not None]
    return found[0] if len(found) == 1 else None

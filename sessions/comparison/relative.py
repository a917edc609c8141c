"""Criteria relative to the run before: a metric improves, or it does not regress.

An improvement whose interval includes 0 has not been shown, and a regression neither. With one
exception: where every value after is better than every value before, all of them by more than was
asked for, no interval of a few points can make that noise. Five values against five fall apart
like that by accident less than once in a hundred times, even without such a gap between them.
"""

from __future__ import annotations

import math

from ..model.result import MetricChange
from . import wording
from .case import Case
from .judged import FAILED, INCONCLUSIVE, PASSED, Judged, Weight, counted, more_points
from .measuring import Measured, end_lost_at
from .survival import outlives

_EXACT = 1e-9
"""2.0 to 1.8 is 10 %, whatever floating-point numbers make of it."""


def improves(one: Measured, bar: float, case: Case) -> Judged:
    """By at least a share, and by more than noise."""
    if (early := _without_numbers(one)) is not None:
        return early
    gain, said, name = one.gain, wording.sentence(one.change), one.change.name
    if gain is None:
        why = f"neither direction of {name} is known to be better"
        return Judged(INCONCLUSIVE, f"{said}: {why}; say 'is below' or 'is above' instead", why)
    asked = wording.plain_percent(bar)
    low, high, reach = gain.low, gain.high, gain.half_width
    if low is None or high is None or reach is None:
        return _too_few(one, said)
    if gain.is_absolute:
        ends = wording.interval(low, high)
        is_zero = one.change.change is None
        why = "the level before cannot be told from 0: " if is_zero else ""
        said += f" ({why}{ends} of the larger level)"
    is_met = gain.value >= bar - _EXACT
    if is_met and low > 0:
        return Judged(PASSED, said)
    if is_met and gain.gap > bar:
        why = "every value after is better than every one before"
        return Judged(PASSED, f"{said}: {why}", why)
    if high < bar - _EXACT:
        why = "it got worse" if high < 0 else f"short of the {asked} asked for"
        weight = Weight.GRAVE if gain.is_clearly_worse else Weight.PLAIN
        # Where it stands now says nothing certain about where a run that goes on will end.
        is_excluded = not case.is_running
        return Judged(FAILED, f"{said}: {why}", why, is_excluded=is_excluded, weight=weight)
    if is_met:
        why, wanted = "that could still be noise", gain.value
    elif case.is_running or reach > bar:
        why, wanted = f"{asked} is within the interval", bar
    else:
        # A change as large as was asked for would have been seen: this one is smaller.
        why = f"short of the {asked} asked for, though the interval reaches it"
        return Judged(FAILED, f"{said}: {why}", why)
    needed = more_points(min(one.shared), reach, wanted)
    why = f"{why}: {counted(needed, name)}"
    return Judged(INCONCLUSIVE, f"{said}: {why}", why, needed)


def holds(one: Measured, most: float) -> Judged:
    """A regression counts if it is larger than allowed and no noise."""
    change, said = one.change, wording.sentence(one.change)
    if one.pair.before is None:
        return Judged(INCONCLUSIVE, f"the run before the change does not log {change.name}")
    if _is_bad(change.after) and not _is_bad(change.before):
        said += f": it became {wording.number(change.after)}"
        return Judged(FAILED, said, is_excluded=True, weight=Weight.GRAVE)
    gain = one.gain
    if gain is None:
        is_known = change.after is not None and not _is_bad(change.after)
        return Judged(PASSED if is_known else INCONCLUSIVE, said, is_blocking=False)
    allowed = wording.plain_percent(most)
    if gain.low is None or gain.high is None:
        why = f"not shown, {counted(max(1, change.needed), change.name)}"
        return Judged(INCONCLUSIVE, f"{said}: {why}", needed=change.needed, is_blocking=False)
    if -gain.value > most and gain.high < 0:
        why = f"it regressed by more than {allowed}"
        return Judged(FAILED, f"{said}: {why}", is_excluded=-gain.high > most)
    if -gain.low <= most + _EXACT:
        return Judged(PASSED, said)
    why = f"not shown, a regression of {allowed} is within the interval"
    return Judged(INCONCLUSIVE, f"{said}: {why}", is_blocking=False)


def _without_numbers(one: Measured) -> Judged | None:
    """The cases in which one of the levels is missing or no number."""
    change = one.change
    if one.pair.before is None:
        why = f"the run before the change does not log {change.name}"
        return Judged(INCONCLUSIVE, why, why)
    if change.before is None or change.after is None:
        why = f"the runs share no stretch of {change.axis} on which both log {change.name}"
        return Judged(INCONCLUSIVE, why, why)
    if _is_bad(change.after):
        is_new = not _is_bad(change.before)
        why = f"it became {wording.number(change.after)}" if is_new else "finite in neither run"
        return _lost(change, why)
    if (place := end_lost_at(one)) is not None:
        why = f"it stops being finite at {change.axis} {wording.place(place)}"
        return _lost(change, why)
    return outlives(one) if _is_bad(change.before) else None


def _lost(change: MetricChange, why: str) -> Judged:
    said = f"{wording.sentence(change)}: {why}"
    return Judged(FAILED, said, why, is_excluded=True, weight=Weight.GRAVE)


def _too_few(one: Measured, said: str) -> Judged:
    before, after = one.change.points
    needed = max(1, one.change.needed)
    whose = " of the run before" if one.shared[0] < one.shared[1] else ""
    why = f"too few points ({before} before, {after} after): {counted(needed, one.change.name)}"
    return Judged(INCONCLUSIVE, f"{said}: {why}{whose}", why + whose, needed)


def _is_bad(value: float | None) -> bool:
    return value is not None and not math.isfinite(value)

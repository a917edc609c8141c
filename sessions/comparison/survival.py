"""Whether the run after a change goes on where the run before was lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import wording
from .case import Case
from .directions import kind_of
from .judged import FAILED, INCONCLUSIVE, PASSED, Judged, Weight, counted
from .measuring import Measured, lost_place
from .windows import ENOUGH, Side

_FURTHER = 0.1
"""Share of the way to the place of the failure that it must go beyond it."""


def outlives(one: Measured) -> Judged:
    """The metric was no number in the run before, from some place on: is it one now?"""
    before, after = one.aligned.before, one.aligned.after
    assert before is not None
    assert after is not None
    place = lost_place(before, kind_of(one.change.role))
    said = wording.sentence(one.change)
    if place is None or one.aligned.axis == "final":
        return Judged(PASSED, f"{said}: finite again", "finite again")
    was = f"{_place(one, place)}, where it was lost before"
    found = _past(one, place, _wanted(before, place), was, one)
    return replace(found, said=f"{said}: {found.said}")


def survives(case: Case, target: Measured | None) -> Judged:
    """The run before failed: does the one after go on past that place?"""
    if case.after.error:
        again = " again" if case.after.is_like(case.before) else ""
        why = f"the run after the change failed{again}: {case.after.error}"
        return Judged(FAILED, why, why, is_excluded=bool(again), weight=Weight.GRAVE)
    if not any(_has_points(one.aligned.before) for one in case.measured):
        return _begins(case)
    one = _farthest(case, target)
    if one is None or one.aligned.before is None or one.aligned.after is None:
        return Judged(INCONCLUSIVE, "the runs share no metric that tells how far they came")
    if not _has_points(one.aligned.before) or not _has_points(one.aligned.after):
        return Judged(INCONCLUSIVE, f"there is no point of {one.change.name} yet", needed=ENOUGH)
    before = one.aligned.before
    place = float(before.x[-1])
    was = f"{_place(one, place)}, where the run before failed"
    wanted = _wanted(before, place)
    return _past(one, place, wanted, was, target or one, is_running=case.is_running)


def falls_short(case: Case, target: Measured | None) -> Judged | None:
    """What is still to come before the run after has been where the incident showed itself."""
    one = _farthest(case, target)
    if one is None or one.aligned.before is None or not _has_points(one.aligned.after):
        return None
    before = one.aligned.before
    if not len(before.x):
        return None
    lost = None
    if target is not None and (side := target.aligned.before) is not None and len(side.y):
        # Up to its very end, not only as far as both have come.
        lost = lost_place(replace(side, high=len(side.y)), kind_of(target.change.role))
    known = [place for place in (case.onset, lost) if place is not None]
    # A place that this axis does not have is counted on another one.
    places = [place for place in known if before.x[0] <= place <= before.x[-1]]
    if not places:
        return None
    place = max(places)
    was = f"{_place(one, place)}, where the incident showed itself"
    # What shows itself at the end of a run cannot be asked to be further behind than that.
    wanted = min(_wanted(before, place), float(before.x[-1]))
    found = _past(one, place, wanted, was, target or one, 1, is_running=case.is_running)
    few = None if target is None else _too_few_behind(target, place, was)
    return found if found.outcome is INCONCLUSIVE else few


def _too_few_behind(one: Measured, place: float, was: str) -> Judged | None:
    """The run has been there, but what decides is measured seldom."""
    before, after = one.aligned.before, one.aligned.after
    if before is None or after is None or not len(after.x):
        return None
    asked = min(ENOUGH, int(np.count_nonzero(before.x >= place)))
    missing = asked - int(np.count_nonzero(after.x >= place))
    if missing <= 0:
        return None
    why = f"too little is measured behind {was}: {counted(missing, one.change.name)}"
    return Judged(INCONCLUSIVE, why, why, missing, weight=Weight.EARLY)


def _begins(case: Case) -> Judged:
    """The run before failed before it had measured anything: any training is more than that."""
    found = [(len(side.y), one) for one in case.measured if (side := one.aligned.after) is not None]
    points, one = max(found, key=lambda each: each[0], default=(0, None))
    if one is None or points < ENOUGH:
        name = "a metric" if one is None else one.change.name
        said = f"the run before failed before its first point: {counted(ENOUGH - points, name)}"
        return Judged(INCONCLUSIVE, said, said, ENOUGH - points, weight=Weight.EARLY)
    said = f"the run before failed before its first point, this one has {points:,}"
    return Judged(PASSED, f"{said} of {one.change.name}", said)


def _farthest(case: Case, target: Measured | None) -> Measured | None:
    """The metric that tells best how far both runs came: most are written oftener than others."""
    shared = [
        one
        for one in case.measured
        if one.pair.is_shared
        and one.aligned.axis != "final"
        and _has_points(one.aligned.before)
        and (target is None or one.aligned.axis == target.aligned.axis)
    ]
    return max(shared, key=lambda one: (*_reach(one), one is target), default=target)


def _reach(one: Measured) -> tuple[float, float, int]:
    before, after = one.aligned.before, one.aligned.after
    assert before is not None
    assert after is not None
    last = float(after.x[-1]) if len(after.x) else -np.inf
    return float(before.x[-1]), last, min(len(before.x), len(after.x))


def _wanted(before: Side, place: float) -> float:
    return place + _FURTHER * (place - float(before.x[0]))


def _past(
    one: Measured,
    place: float,
    wanted: float,
    was: str,
    target: Measured,
    enough: int = ENOUGH,
    *,
    is_running: bool = False,
) -> Judged:
    """How far a run is past a place; what is still missing is counted in points of the target."""
    name, after = one.change.name, one.aligned.after
    assert after is not None
    beyond = after.y[after.x > place]
    if len(beyond) and not np.isfinite(beyond[-min(ENOUGH, len(beyond)) :]).all():
        why = f"{name} does not stay finite past {was}"
        return Judged(FAILED, why, why, is_excluded=True, weight=Weight.GRAVE)
    last = float(after.x[-1])
    missing = enough - len(beyond)
    if missing <= 0 and last >= wanted:
        why = f"{name} is finite up to {_place(one, last)}, past {was}"
        return Judged(PASSED, why, why)
    pace = _pace(target)
    if pace > 0:
        by_pace = int(np.ceil(min(1e6, (wanted - last) / pace)))
        missing = max(missing if target is one else 0, by_pace)
    missing = max(1, missing)
    if last >= place:
        so_far = "it has not gone well past"
    else:
        so_far = "so far it has not come to" if is_running else "it ended before it came to"
    why = f"{so_far} {was}: {counted(missing, target.change.name)}"
    return Judged(INCONCLUSIVE, why, why, missing, weight=Weight.EARLY)


def _pace(one: Measured) -> float:
    """How far it is from one point to the next; 0 if that is not known."""
    for side in (one.aligned.after, one.aligned.before):
        shown = None if side is None else side.x[side.start :]
        if shown is not None and len(shown) > 1:
            return float(shown[-1] - shown[0]) / (len(shown) - 1)
    return 0.0


def _has_points(side: Side | None) -> bool:
    return side is not None and len(side.x) > 0


def _place(one: Measured, value: float) -> str:
    axis = one.aligned.axis
    return f"{'point' if axis == 'index' else axis} {wording.place(value)}"

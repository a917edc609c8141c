"""Whether the run after a change goes on where the run before was lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import wording
from .case import Case
from .directions import kind_of
from .judged import FAILED, INCONCLUSIVE, PASSED, Judged, counted
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
    was = f"{_place(one.aligned.axis, place)}, where it was lost before"
    return _past(after, before, place, f"{said}: ", one, was)


def survives(case: Case, one: Measured | None) -> Judged:
    """The run before failed: does the one after go on past that place?"""
    if case.after.error:
        again = " again" if case.after.is_like(case.before) else ""
        why = f"the run after the change failed{again}: {case.after.error}"
        return Judged(FAILED, why, why, is_excluded=bool(again))
    if one is None or one.aligned.before is None or one.aligned.after is None:
        return Judged(INCONCLUSIVE, "the runs share no metric that tells how far they came")
    before, after = one.aligned.before, one.aligned.after
    if not len(before.x) or not len(after.x):
        return Judged(INCONCLUSIVE, f"there is no point of {one.change.name} yet", needed=ENOUGH)
    place = float(before.x[-1])
    was = f"{_place(one.aligned.axis, place)}, where the run before failed"
    return _past(after, before, place, "", one, was)


def falls_short(case: Case, one: Measured | None) -> Judged | None:
    """What is still to come before the run after has been where the incident showed itself."""
    if one is None or one.aligned.before is None or one.aligned.after is None:
        return None
    before, after = one.aligned.before, one.aligned.after
    if not len(before.x) or not len(after.x) or one.aligned.axis == "final":
        return None
    # Up to its very end, not only as far as both have come.
    lost = lost_place(replace(before, high=len(before.y)), kind_of(one.change.role))
    known = [place for place in (case.onset, lost) if place is not None]
    # A place that this axis does not have is counted on another one.
    places = [place for place in known if before.x[0] <= place <= before.x[-1]]
    if not places or float(after.x[-1]) > max(places):
        return None
    was = f"{_place(one.aligned.axis, max(places))}, where the incident showed itself"
    judged = _past(after, before, max(places), "", one, was)
    return judged if judged.outcome is INCONCLUSIVE else None


def _past(after: Side, before: Side, place: float, said: str, one: Measured, was: str) -> Judged:
    name = one.change.name
    beyond = after.y[after.x > place]
    if len(beyond) and not np.isfinite(beyond[-min(ENOUGH, len(beyond)) :]).all():
        why = f"{name} does not stay finite past {was}"
        return Judged(FAILED, said + why, why, is_excluded=True)
    wanted = place + _FURTHER * (place - float(before.x[0]))
    last = float(after.x[-1])
    missing = ENOUGH - len(beyond)
    if missing <= 0 and last >= wanted:
        why = f"{name} is finite up to {_place(one.aligned.axis, last)}, past {was}"
        return Judged(PASSED, said + why, why)
    shown = after.x[after.start :]
    pace = (last - float(shown[0])) / max(1, len(shown) - 1) if len(shown) else 0.0
    if pace > 0:
        missing = max(missing, int(np.ceil(min(1e6, (wanted - last) / pace))))
    missing = max(1, missing)
    why = f"it has not gone well past {was}: {counted(missing, name)}"
    return Judged(INCONCLUSIVE, said + why, why, missing)


def _place(axis: str, value: float) -> str:
    return f"{'point' if axis == 'index' else axis} {wording.place(value)}"

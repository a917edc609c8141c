"""Whether a reproduction shows the symptom again.

Unless criteria say what to look for: it fails on the same, its metric is lost as well, or its
level is where that of the incident is, to within the size of a change that would count as one.
"""

from __future__ import annotations

import math

from ..model.criterion import DEFAULT_IMPROVEMENT
from . import wording
from .case import Case
from .judged import FAILED, INCONCLUSIVE, PASSED, Judged, counted, more_points
from .measuring import Measured


def shows_again(case: Case, one: Measured | None) -> tuple[str, Judged]:
    """What is asked, and whether it is so."""
    if case.before.error:
        return "fails on the same error", _same_error(case)
    if one is None:
        said = "the runs share no metric by which one could tell"
        return "shows the same symptom", Judged(INCONCLUSIVE, said)
    before, after = one.change.before, one.change.after
    if before is not None and not math.isfinite(before):
        return f"{one.change.name} stops being finite again", _lost_again(one, after)
    bar = wording.plain_percent(DEFAULT_IMPROVEMENT)
    return f"{one.change.name} comes out within {bar} of the incident's", _same_level(one, case)


def _same_error(case: Case) -> Judged:
    if case.after.is_like(case.before):
        return Judged(PASSED, f"it failed again: {case.after.error}")
    if case.after.error:
        said = f"it failed on something else: {case.after.error}, not {case.before.error}"
        return Judged(FAILED, said, is_excluded=True)
    if case.is_running:
        return Judged(INCONCLUSIVE, f"it has not failed on {case.before.error} yet")
    return Judged(FAILED, f"it did not fail on {case.before.error}", is_excluded=True)


def _lost_again(one: Measured, after: float | None) -> Judged:
    said = wording.sentence(one.change)
    if after is None:
        return Judged(INCONCLUSIVE, f"the run after does not reach the place: {said}")
    if not math.isfinite(after):
        return Judged(PASSED, said, "finite in neither run")
    return Judged(FAILED, said, "it stays finite this time", is_excluded=True)


def _same_level(one: Measured, case: Case) -> Judged:
    said, name, bar = wording.sentence(one.change), one.change.name, DEFAULT_IMPROVEMENT
    gain = one.gain
    if one.change.after is not None and not math.isfinite(one.change.after):
        return Judged(FAILED, said, "another symptom: it is not finite", is_excluded=True)
    if gain is None:
        return Judged(INCONCLUSIVE, said or f"{name} cannot be compared")
    low, high, reach = gain.low, gain.high, gain.half_width
    if low is None or high is None or reach is None:
        needed = max(1, one.change.needed)
        why = f"too few points: {counted(needed, name)}"
        return Judged(INCONCLUSIVE, f"{said}: {why}", why, needed)
    asked = wording.plain_percent(bar)
    if low > bar or high < -bar:
        return Judged(FAILED, said, f"more than {asked} away", is_excluded=True)
    if -bar <= gain.value <= bar and (reach <= bar or (low >= -bar and high <= bar)):
        return Judged(PASSED, said, f"within {asked} of the incident's")
    if reach <= bar and not case.is_running:
        return Judged(FAILED, said, f"more than {asked} away")
    needed = more_points(min(one.shared), reach, min(bar, abs(abs(gain.value) - bar)))
    why = f"too noisy to tell {asked}: {counted(needed, name)}"
    return Judged(INCONCLUSIVE, f"{said}: {why}", why, needed)

"""Cited values of metrics: does the run log that value at that step?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from mltd.runs.roles import normalise

from ..answer.citation import SeriesCitation
from .checked import CheckedCitation, Verdict
from .desk import Desk, Struck, Unreadable, closest
from .numerals import Stated, fits, stated

if TYPE_CHECKING:
    from mltd.runs.run import Run
    from mltd.runs.series import Series

_OTHER_AXES = ("step", "epoch", "tokens", "samples", "index")
_FIELD = 1e-9
"""Share by which a step may differ and still be the same."""


class _Look(NamedTuple):
    """What one series shows."""

    has_value: bool
    reason: str = ""
    step: float | None = None
    is_lost: bool = False
    """The value may have been there, but is no longer kept."""


def check_series(citation: SeriesCitation, desk: Desk) -> CheckedCitation:
    """The citation with what the run logs there."""
    said = stated(citation.value)
    if said is None:
        raise Struck(f"{citation.value!r} is no number")
    runs = desk.runs(citation.run)
    found = [one for called, run in runs for one in _named(citation.name, called, run)]
    if not found:
        names = [series.name for _, run in runs for series in run.series]
        raise Struck(f"no series is called {citation.name!r}{closest(citation.name, names)}")
    looks = [_look(series, citation.step, said) for series in found]
    for look in sorted(looks, key=lambda one: one.step is not None):
        if look.has_value:
            verdict = Verdict.CONFIRMED if look.step is None else Verdict.ELSEWHERE
            return CheckedCitation(
                citation=citation, verdict=verdict, reason=look.reason, step=look.step
            )
    if lost := next((look for look in looks if look.is_lost), None):
        raise Unreadable(lost.reason)
    raise Struck(looks[0].reason)


def _named(name: str, called: str, run: Run) -> list[Series]:
    """The series that a name means: by its own name, by its role, by either in another spelling."""
    asked = name.removeprefix(f"{called}/").removeprefix(f"{called}:").strip()
    everything = [one for number in range(len(run.files)) for one in run.of_file(number)]
    for pool in (run.series, everything):
        for fold in (str, str.casefold, normalise):
            wanted = {fold(name), fold(asked)}
            if by_name := [one for one in pool if fold(one.name) in wanted]:
                return by_name
            if by_role := [one for one in pool if one.role and fold(one.role) in wanted]:
                return by_role
    return []


def _look(series: Series, step: float, said: Stated) -> _Look:
    if not len(series):
        return _Look(False, f"{series.name} has no values")
    main = series.axis_name
    there = _at(series, main, step)
    if any(fits(said, value) for value in there):
        return _Look(True)
    for axis in _OTHER_AXES:
        if axis != main and any(fits(said, value) for value in _at(series, axis, step)):
            return _Look(True, f"{step:.15g} is its {axis}, not its {main}")
    if there:
        return _Look(False, f"{series.name} is {_told(there)} at {main} {step:.15g}")
    return _nearest(series, main, step, said)


def _at(series: Series, axis: str, step: float) -> list[float]:
    """All values that were logged at a place; a resumed run may have two."""
    import numpy as np

    places = series.axis(axis)
    close = np.abs(places - step) <= _FIELD * max(1.0, abs(step))
    return [float(value) for value in series.values[close][:100]]


def _nearest(series: Series, axis: str, step: float, said: Stated) -> _Look:
    """The value at the nearest place that was logged, if that is not far."""
    import numpy as np

    places = series.axis(axis)
    known = np.unique(places[np.isfinite(places)])
    if not len(known):
        return _Look(False, f"{series.name} has no {axis}s")
    usual = float(np.median(np.diff(known))) if len(known) > 1 else 0.0
    if not known[0] - usual <= step <= known[-1] + usual:
        return _Look(
            False,
            f"{series.name} has no {axis} {step:.15g}: it goes from {known[0]:.15g} to "
            f"{known[-1]:.15g}",
        )
    distances = np.abs(known - step)
    near = [float(place) for place in known[distances <= distances.min() * (1 + _FIELD)]]
    for place in near:
        values = _at(series, axis, place)
        if any(fits(said, value) for value in values):
            reason = f"{axis} {step:.15g} is not logged; the nearest is {place:.15g}"
            return _Look(True, reason, place)
    told = _told(_at(series, axis, near[0]))
    if series.dropped:
        reason = f"{axis} {step:.15g} of {series.name} is no longer kept in memory"
        return _Look(False, reason, is_lost=True)
    return _Look(
        False,
        f"{axis} {step:.15g} is not logged, and at the nearest, {near[0]:.15g}, {series.name} "
        f"is {told}",
    )


def _told(values: list[float]) -> str:
    shown = dict.fromkeys("nan" if math.isnan(value) else f"{value:.6g}" for value in values)
    return " or ".join(list(shown)[:3])

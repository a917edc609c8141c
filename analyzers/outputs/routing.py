"""Experts of a mixture that get nothing: their loads, one curve each, or how uneven they are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.finding import Basis, Severity
from ..core.view import RunView
from .endings import ending
from .sign import Sign

_EXPERT = re.compile(r"\b(?:experts?|moe|router|routing|gate|gating)(?:\b|(?=\d))")
_SHARE = re.compile(
    r"\bloads?(?:\b|(?=\d))|\b(?:usage|share|frac\w*|util\w*) e(?=\d)|\be\d+ (?:usage|share|frac)"
)
"""Words that are used of machines, too: only what adds up to one is taken for shares."""
_MACHINE = re.compile(
    r"\b(?:[gct]pu|cuda|cores?|nodes?|disk|mem\w*|ram|data|workers?|sys\w*|avg|loss|rank|dev\w*)"
    r"\d*\b"
)
_PREDICTED = re.compile(r"\bpred\w* (?:frac\w*|shares?|ratio|counts?|pct|dist\w*)\b")
_LARGEST = re.compile(r"(?:.* )?(?:max|top)(?: 1)? (?:frac\w*|share|load|usage)")
_IN_USE = re.compile(
    r"(?:.* )?(?:experts? (?:used|active|in use)|(?:used|active) experts?|n experts used)"
)
_UNEVEN = re.compile(
    r"(?:.* )?(?:(?:loads?|experts?|router|routing|moe)(?: \w+)? cv|"
    r"cv (?:\w+ )?(?:loads?|experts?))"
)
_STARVED = 0.1
"""Of an even share: an expert that gets less learns nothing."""
_NEVER = 0.005
"""Of an even share: rare classes are predicted seldom by right, but they are."""
_MOST_STARVED = 0.75
_WHOLE = 0.02
"""By how much the sum of shares may vary: printed digits, dropped tokens."""
_ONE_OF_FOUR = 1.7
"""Deviation over mean of four loads of which one is all; with more experts it is larger."""
_SEVERAL = 3.0
"""Experts in use at first; fewer may be as many as a token needs."""
_LEAST, _LEAST_SHARE = 3, 0.25


def starved_experts(view: RunView) -> Iterator[Sign]:
    """The first family of loads that ends with most experts idle, else a spread that says so."""
    for members in _families(view):
        if (found := _starved(members)) is not None:
            yield found
            return
    is_mixture = any(_EXPERT.search(normalise(curve.name)) for curve in view.all_curves())
    for curve in view.all_curves():
        name, end = normalise(curve.name), None
        if _UNEVEN.fullmatch(name):
            end = ending(curve, lambda v: v > _ONE_OF_FOUR, 5, _LEAST_SHARE)
        elif _IN_USE.fullmatch(name) and len(curve) and float(np.max(curve.y[:3])) >= _SEVERAL:
            end = ending(curve, lambda v: v <= 1.0, 5, _LEAST_SHARE)
        elif is_mixture and _LARGEST.fullmatch(name) and not _EXPERT.search(name) and _moves(curve):
            end = ending(curve, lambda v: (v > 0.9) & (v <= 1.001), 5, _LEAST_SHARE)
        if end is not None:
            yield _sign(
                f"{curve.name} is {end.level:.3g} from {curve.axis_name} "
                f"{curve.step(end.start):.10g} on: nearly all goes to one expert",
                curve,
                end.start,
            )
            return


def _moves(curve: Curve) -> bool:
    """What is the same in every record is a setting rather than a measurement."""
    return float(np.ptp(curve.bins[2])) > 0


def _families(view: RunView) -> Iterator[list[Curve]]:
    """Curves whose names differ in a number alone and that were written together."""
    families: dict[tuple[str, int], list[Curve]] = {}
    for curve in view.all_curves():
        name = normalise(curve.name)
        # Layers are numbered as well; the last number is that of the expert.
        stem, count = re.subn(r"\d+(?=\D*$)", "#", name)
        is_load = _EXPERT.search(name) or _SHARE.search(name) or _PREDICTED.search(name)
        if count == 1 and is_load and not _MACHINE.search(name) and len(curve):
            families.setdefault((stem, len(curve)), []).append(curve)
    for members in families.values():
        numbers = sorted(int(n) for c in members for n in re.findall(r"\d+", c.name)[-1:])
        is_counted = numbers == list(range(numbers[0], numbers[0] + len(members)))
        is_even = len({curve.bin_width for curve in members}) == 1
        if len(members) >= 2 and is_counted and numbers[0] <= 1 and is_even:
            yield members


def _starved(members: list[Curve]) -> Sign | None:
    loads: Floats = np.stack([curve.bins[2] for curve in members])
    whole = loads.sum(axis=0)
    if not np.isfinite(loads).all() or float(loads.min()) < 0 or not float(whole.min()) > 0:
        return None
    # Loads of one mixture are parts of a whole; what is not was only called so.
    if float(np.ptp(whole)) > _WHOLE * float(np.median(whole)):
        return None
    name = normalise(members[0].name)
    is_one = any(abs(float(np.median(whole)) - one) <= _WHOLE * one for one in (1.0, 100.0))
    if not is_one and not _EXPERT.search(name) and not _PREDICTED.search(name):
        return None
    count = len(members)
    # Two gates may be a switch that has learned its position.
    if count == 2 and "expert" not in name:
        return None
    is_predicted = _PREDICTED.search(name) is not None
    share = _NEVER if is_predicted else _STARVED
    idle = np.sum(loads <= share * whole / count, axis=0)
    needed = min(count - 1, math.ceil(_MOST_STARVED * count))
    failing = np.flatnonzero(idle < needed)
    first = int(failing[-1]) + 1 if len(failing) else 0
    points = (loads.shape[1] - first) * members[0].bin_width
    if points < _LEAST or points < _LEAST_SHARE * len(members[0]):
        return None
    top = members[int(np.argmax(loads[:, -1]))]
    start = min(first * top.bin_width, len(top) - 1)
    unused = int(np.median(idle[first:]))
    what = "classes are not predicted" if is_predicted else "experts get nothing"
    return _sign(
        f"{unused} of {count} {what} from {top.axis_name} {top.step(start):.10g} on; {top.name} is "
        f"{top.y[-1]:.3g}",
        top,
        start,
        "predictions" if is_predicted else "routing",
    )


def _sign(title: str, curve: Curve, start: int, way: str = "routing") -> Sign:
    return Sign(
        way,
        title,
        Severity.WARNING,
        Basis.RESEARCH,
        0.75,
        (curve.evidence(start, len(curve) - 1),),
        curve.step(start),
    )

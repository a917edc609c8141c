"""Examples that should lie apart and no longer do: distances, similarities, ranks of codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.finding import Basis, Severity
from ..core.view import RunView
from .endings import ending, last_level, smooth_levels
from .sign import Sign

_DISTANCE = r"(?:d|dists?|distances?)"
_UNLIKE = re.compile(
    rf"(?:.* )?(?:{_DISTANCE} (?:an|neg\w*)|(?:an|neg\w*|inter(?: class)?|pairwise) {_DISTANCE})"
    r"(?: mean| avg)?"
)
_ALIKE = re.compile(
    rf"(?:.* )?(?:{_DISTANCE} (?:ap|pos\w*)|(?:ap|pos\w*|intra(?: class)?) {_DISTANCE})"
    r"(?: mean| avg)?"
)
_SIMILARITY = re.compile(
    r"(?:.* )?(?:(?:neg\w*|pairwise|inter(?: class)?|off ?diag\w*)(?: (?:mean|avg))? "
    r"(?:cos(?:ine)?|sim\w*)(?: sim\w*)?|(?:cos(?:ine)?|sim\w*) (?:neg\w*|pairwise))(?: mean| avg)?"
)
_RANK = re.compile(r"(?:.* )?(?:eff(?:ective)? rank|rank ?me|stable rank|participation ratio)")
_UNIFORMITY = re.compile(r"(?:.* )?unif(?:ormity)?(?: loss)?")
_LITTLE = 0.03
_ALL_ALIKE = 0.98
_NOT_YET = 0.9
_ONE_DIRECTION = 1.5
_LEAST, _LEAST_SHARE = 5, 0.25


def unlike_pairs(view: RunView) -> Iterator[Sign]:
    """The first measure by which codes of different inputs have become the same."""
    names = [(normalise(curve.name), curve) for curve in view.all_curves()]
    alike = next((curve for name, curve in names if _ALIKE.fullmatch(name)), None)
    for name, curve in names:
        found = None
        if _UNLIKE.fullmatch(name):
            found = _near(curve, alike)
        elif _SIMILARITY.fullmatch(name):
            found = _similar(curve)
        elif _UNIFORMITY.fullmatch(name):
            found = _at_one_point(curve)
        elif _RANK.fullmatch(name):
            found = _flat(curve)
        if found is not None:
            yield found
            return


def _near(curve: Curve, alike: Curve | None) -> Sign | None:
    """Distances of what differs are lost, and what belongs together lies no closer."""
    most = _most(curve)
    end = ending(curve, lambda v: v < _LITTLE * most, _LEAST, _LEAST_SHARE) if most > 0 else None
    if end is None or end.start == 0:
        return None
    # Codes may shrink as a whole and still be told apart.
    if alike is not None and last_level(alike) < 0.5 * last_level(curve):
        return None
    return _sign(curve, end.start, f"fell from {most:.3g} to {end.level:.3g}")


def _similar(curve: Curve) -> Sign | None:
    levels = smooth_levels(curve)
    if len(levels) < 4 or float(levels.max()) > 1.001 or not float(np.min(curve.y[:3])) < _NOT_YET:
        return None
    end = ending(curve, lambda v: v > _ALL_ALIKE, _LEAST, _LEAST_SHARE)
    if end is None:
        return None
    return _sign(curve, end.start, f"rose from {np.min(curve.y[:3]):.3g} to {end.level:.4g}")


def _at_one_point(curve: Curve) -> Sign | None:
    """The logarithm of a mean that is one where all distances are zero."""
    if len(curve) < 2 * _LEAST or not float(np.nanmin(curve.y)) < -0.5:
        return None
    end = ending(curve, lambda v: (v > -0.02) & (v <= 1e-6), _LEAST, _LEAST_SHARE)
    if end is None:
        return None
    return _sign(curve, end.start, f"rose from {np.nanmin(curve.y):.3g} to {end.level:.3g}")


def _flat(curve: Curve) -> Sign | None:
    most = _most(curve)
    end = ending(curve, lambda v: v < _ONE_DIRECTION, _LEAST, _LEAST_SHARE)
    if end is None or most < 4 * _ONE_DIRECTION:
        return None
    return _sign(curve, end.start, f"fell from {most:.3g} to {end.level:.3g}")


def _most(curve: Curve) -> float:
    levels = smooth_levels(curve)
    # Most of it may be gone within the first records.
    return float(np.nanmax([*levels, *curve.y[:2]])) if len(levels) >= 4 else 0.0


def _sign(curve: Curve, start: int, came: str) -> Sign:
    return Sign(
        "representation",
        f"{curve.name} {came}: different inputs get the same code",
        Severity.WARNING,
        Basis.RESEARCH,
        0.75,
        (curve.evidence(0, start), curve.evidence(start, len(curve) - 1)),
        curve.step(start),
    )

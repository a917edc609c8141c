"""Signs of a loss that is climbed: training gets better at being wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.view import RunView
from .levels import begins_at_start

_LEAST = 6
_OUTCOMES = ("val/accuracy", "val/score", "score")


def opposite_signs(view: RunView, identity: str) -> Iterator[Finding]:
    """A training loss below 0 that falls, beside a validation loss above 0 that never got better.

    Both are the same loss, of which one has a minus before it. A likelihood that is below 0 by
    right was above it at first, or is so on validation, too; a loss of another kind on validation
    falls.
    """
    train, val = view.curve("train/loss"), view.curve("val/loss")
    if train is None or val is None or not view.facts.is_monotone:
        return
    if min(len(train), len(val)) < _LEAST or not begins_at_start(train):
        return
    fitted, measured = train.bins[2], val.bins[2]
    if not np.isfinite(fitted).all() or not np.isfinite(measured).all():
        return
    if float(np.max(train.bins[4])) >= 0 or float(np.min(val.bins[3])) <= 0:
        return
    few = max(2, len(fitted) // 5)
    is_falling = float(np.median(fitted[-few:])) < float(fitted[0])
    first, later = float(measured[0]), measured[1:]
    was_best = float(np.median(later)) > 1.02 * first and float(np.min(later)) > 0.98 * first
    if not is_falling or not was_best or _has_risen(view):
        return
    yield Finding(
        id=identity,
        title=f"{train.name} is below 0 and fell from {fitted[0]:.4g} to {fitted[-1]:.4g}, while "
        f"{val.name} is above 0 and was never better than at first ({first:.4g}): the sign of "
        "what is minimised differs from what is evaluated",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(train.evidence(0, len(train) - 1), val.evidence(0, len(val) - 1)),
        first_step=train.step(0),
        details={"kind": "sign"},
    )


def less_than_a_guess(view: RunView) -> Evidence | None:
    """Validation falls far below what an untrained model scored, and its loss rises from the start.

    Who memorises or sees other data comes down to a guess, and not below it.
    """
    val = view.curve("val/loss")
    if val is None or len(val) < _LEAST or not np.isfinite(val.bins[2]).all():
        return None
    costs = val.bins[2]
    if int(np.argmin(costs)) > 1 or float(np.median(costs[-3:])) < 1.5 * float(costs[0]):
        return None
    told = _outcomes(view)
    if not told or not all(_ends_far_below(curve) for curve in told):
        return None
    return told[0].evidence(0, len(told[0]) - 1)


def _outcomes(view: RunView) -> list[Curve]:
    return [c for role in _OUTCOMES for c in view.curves(role) if len(c) >= _LEAST]


def _has_risen(view: RunView) -> bool:
    """Some outcome is better than at first."""
    for curve in _outcomes(view):
        values = curve.bins[2]
        if float(np.nanmedian(values[-3:])) > 1.05 * float(values[0]) + 1e-9:
            return True
    return False


def _ends_far_below(curve: Curve) -> bool:
    values = curve.bins[2]
    first, later = float(values[0]), values[len(values) // 2 :]
    return bool(np.isfinite(values).all()) and first > 0 and float(np.max(later)) < 0.25 * first

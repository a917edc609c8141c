"""Answers that cost more than a guess to the very end: sure of what is wrong from the start on."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .levels import begins_at_start, is_warming_up
from .outcomes import accuracy, binned_fraction

_LEAST = 10
_WILD = 10.0
"""Times the guess that such a loss begins at,"""
_STILL = 2.0
"""and ends at."""
_DOES_WELL = 0.75
_OF_TWO = math.log(2.0)


def costs_more_than_a_guess(view: RunView, identity: str) -> Iterator[Finding]:
    """A classifier that came down from many times a guess, and would still do better guessing.

    Inputs or first weights on a wrong scale do that: all the steps went into undoing it. A loss
    that is a sum over a batch or a time is as many guesses, and falls as the hits rise.
    """
    loss, val, right = view.curve("train/loss"), view.curve("val/loss"), accuracy(view, "val")
    if loss is None or val is None or right is None or not view.facts.is_monotone:
        return
    if min(len(loss), len(val), len(right)) < _LEAST or not begins_at_start(loss):
        return
    if view.settings.number("vocab_size") is not None or is_warming_up(view, loss):
        return
    costs, measured, hits = loss.bins[2], val.bins[2], binned_fraction(right)
    if not (np.isfinite(costs).all() and np.isfinite(measured).all() and np.isfinite(hits).all()):
        return
    began, reached = float(np.median(hits[:3])), _end(hits)
    if not 0.03 < began < _DOES_WELL or not 0.03 < reached < _DOES_WELL:
        return
    guess = max(-math.log(began), _OF_TWO)
    first, last = float(costs[0]), min(_end(costs), _end(measured))
    if not first > _WILD * guess or not last > _STILL * guess:
        return
    if _end(costs) / first > 0.6 * math.log(reached) / math.log(began):
        return
    yield Finding(
        id=identity,
        title=f"{loss.name} came down from {first:.4g} to {_end(costs):.4g} and {val.name} to "
        f"{_end(measured):.4g}, with {right.name} at {reached:.3g}: a guess would cost no more "
        f"than {guess:.2g}",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(
            loss.evidence(0, len(loss) - 1),
            val.evidence(0, len(val) - 1),
            right.evidence(0, len(right) - 1),
        ),
        first_step=loss.step(0),
        details={"level": _end(costs), "above": first / guess},
    )


def _end(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return float(np.median(values[-max(3, len(values) // 4) :]))

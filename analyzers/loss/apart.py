"""Validation that is apart from training since its first evaluation, and not by memorising."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .levels import Shape, level_at, shape_of
from .memorised import began_together

UNMOVED = 0.12
"""Share by which the first evaluations of a model differ that only memorises."""

_NO_GUESS = 1.7
"""Times the first training losses: who has learned nothing guesses, and is not that wrong."""


def bad_from_the_start(view: RunView, identity: str) -> Iterator[Finding]:
    """Training learns, validation is at its worst from the first evaluation to the last."""
    train, val = view.curve("train/loss"), view.curve("val/loss")
    if train is None or val is None or len(val) < 3 or not view.facts.is_monotone:
        return
    shape = shape_of(train)
    _, _, _, lows, _, counts = val.bins
    if shape is None or int(counts.sum()) < len(val) or shape.first <= 0:
        return
    learned = shape.last < 0.35 * shape.first
    lowest = float(np.min(lows))
    never_good = lowest > 0.75 * shape.first and lowest > 3 * shape.last
    is_lost = learned and never_good and _was_apart_early(train, val, shape.first)
    if began_together(train, val):
        return  # it got worse as training got better: it memorises
    if not is_lost and not _is_always_apart(train, val, shape):
        return
    if _stays_at_first(val) and not _is_beyond_guessing(train, val):
        return
    yield Finding(
        id=identity,
        title=f"{val.name} never fell below {lowest:.4g} in {len(val)} evaluations while "
        f"{train.name} went from {shape.first:.4g} to {shape.last:.4g}: validation is far off "
        "since the first evaluation",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.88),
        basis=Basis.OBSERVATION,
        evidence=(val.evidence(0, len(val) - 1), train.evidence(len(train) - 1)),
        first_step=val.step(0),
        details={"kind": "validation"},
    )


def _stays_at_first(val: Curve) -> bool:
    """Memorising: what holds for no other data leaves validation where it was, for a while.

    A model that sees its validation wrongly moves there as fast as it does in training.
    """
    early = val.y[:4]
    return len(val) >= 8 and float(np.ptp(early)) < UNMOVED * abs(float(early[0]))


def _is_beyond_guessing(train: Curve, val: Curve) -> bool:
    """Far worse at once than training ever was, and it stays so: memorising makes it ever worse."""
    first, most = float(val.y[0]), float(np.max(train.y[:3]))
    return first > _NO_GUESS * most and float(np.ptp(val.y)) < UNMOVED * abs(first)


def _is_always_apart(train: Curve, val: Curve, shape: Shape) -> bool:
    """Several times the training loss at every evaluation, the first ones included."""
    if len(val) < 4 or shape.last > 0.5 * shape.first or float(np.min(val.y)) <= 0:
        return False
    levels = np.array([level_at(train, step) for step in val.x[:64].tolist()])
    ratios = val.y[:64] / np.maximum(_skew(train) * levels, 1e-12)
    is_apart = float(np.min(ratios[:3])) > 2.2 and float(np.min(ratios)) > 2.0
    return is_apart and float(np.min(val.y)) > 0.35 * shape.first


def _was_apart_early(train: Curve, val: Curve, first: float) -> bool:
    """A wrong path parts them once anything is learned; memorising has a minimum first."""
    low = int(np.argmin(val.y))
    had_minimum = val.y[0] > 1.05 * val.y[low] and float(val.y[-1]) > 1.25 * val.y[low]
    if low > 0 and had_minimum:
        return False
    for number in range(len(val)):
        level = level_at(train, val.step(number))
        if level < 0.35 * first:
            return bool(val.y[number] > 2.5 * _skew(train) * level)
    return False


def _skew(train: Curve) -> float:
    """Mean by median of the later losses: an evaluation is a mean, long tails included."""
    later = train.y[len(train) // 2 :][-4096:]
    later = later[np.isfinite(later)]
    middle = float(np.median(later)) if len(later) >= 8 else 0.0
    if middle <= 0:
        return 1.0
    return max(1.0, float(np.mean(later[later <= np.quantile(later, 0.98)])) / middle)

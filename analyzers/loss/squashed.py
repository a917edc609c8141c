"""A softmax applied twice: by the floor of the loss, or by the accuracy beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .levels import begins_at_start, shape_of
from .outcomes import as_fraction, binned_fraction, classes

_LEAST = 4
_RIGHT = 0.6
"""Accuracy from which on a plain cross-entropy is far lower."""
_NEAR = 0.03
_AT_ONCE = 0.02
_BOTH_NEAR = 0.01
_APART = 0.04
"""Range of accuracies over which a constant sum is no accident of a flat end."""
_MOVED = 0.02
"""The same where the number of classes is only guessed from the mean of an epoch."""
_STEPS = 30
"""Points of a training loss that are steps rather than epochs."""
_MOST_CLASSES = 20
"""More are too close to each other to be told apart by a loss."""


def softmax_twice(view: RunView, identity: str) -> Iterator[Finding]:
    """What shows it best: the floor of the loss, a loss too high for its accuracy, or their sum."""
    stated = classes(view)
    known = stated or _classes_by_start(view)
    found = list(_at_the_floor(view, known, identity)) if known is not None else []
    found = found or list(_too_right(view, identity))
    if not found:
        # Where the first accuracy comes after an epoch, the first loss alone says how many there
        # are; the mean of an epoch does not.
        sure = stated or _classes_by_both_sums(view)
        known = sure or known or _classes_by_first_loss(view)
        loss = view.curve("train/loss")
        is_sure = sure is not None or (loss is not None and len(loss) >= _STEPS)
        if known is not None:
            found = list(_by_their_sum(view, known, identity, is_sure=is_sure))
    yield from found


def _by_their_sum(
    view: RunView, known: float, identity: str, *, is_sure: bool
) -> Iterator[Finding]:
    """Probabilities taken for logits: a right answer costs one less than a wrong one, always.

    A certain answer has a probability of 1; as a logit among zeros it costs log(e + K - 1) - 1 if
    it is right, and log(e + K - 1) if it is wrong. Loss and accuracy then have a fixed sum.
    """
    loss, right = view.curve("val/loss"), view.curve("val/accuracy")
    if loss is None or right is None or len(loss) != len(right) or len(loss) < 2 * _LEAST:
        return
    costs, hits = loss.bins[2], binned_fraction(right)
    half = slice(len(costs) // 2, None)
    costs, hits = costs[half], hits[half]
    if not np.isfinite(costs).all() or not np.isfinite(hits).all():
        return
    total = math.log(math.e + known - 1.0)
    is_sum = float(np.max(np.abs(costs + hits - total))) < _NEAR
    if (
        len(costs) < _LEAST
        or not is_sum
        or float(np.min(hits)) < _RIGHT
        or float(np.max(hits)) > 1.0
        or (not is_sure and float(np.ptp(hits)) < _MOVED)
    ):
        return
    yield Finding(
        id=identity,
        title=f"{loss.name} is {costs[-1]:.4g} with {right.name} at {hits[-1]:.3g}: their sum "
        f"stays at {total:.4g}, as that of a softmax applied twice over {known:g} classes",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.RESEARCH, 0.75),
        basis=Basis.RESEARCH,
        evidence=(loss.evidence(0, len(loss) - 1), right.evidence(0, len(right) - 1)),
        first_step=loss.step(0),
        details={"kind": "double_softmax", "floor": total - 1.0},
    )


def _at_the_floor(view: RunView, known: float, identity: str) -> Iterator[Finding]:
    loss = view.curve("train/loss")
    right = view.curve("train/accuracy") or view.curve("val/accuracy")
    shape = shape_of(loss) if loss is not None else None
    if known > 1e4 or loss is None or shape is None:
        return
    floor = math.log(math.e + known - 1) - 1
    room = math.log(known) - floor
    if not floor - 1e-3 <= shape.best <= floor + 0.2 * room:
        return
    measured = view.curve("val/loss")
    if measured is not None and float(np.nanmin(measured.bins[3], initial=np.inf)) < floor - _NEAR:
        return  # what holds for the output layer holds for validation, too
    if right is not None:
        reached = float(np.nanmedian(as_fraction(right)[-max(3, len(right) // 10) :]))
        # A cross-entropy with such an accuracy would be far lower.
        if reached < max(0.6, 3.0 / known) or shape.last < 0.35 - math.log(reached):
            return
        fact, sure = f"although {right.name} is {reached:.3g}", 0.85
        evidence = [loss.evidence(0, len(loss) - 1), right.evidence(len(right) - 1)]
    else:
        quarter = max(2, len(shape.levels) // 4)
        slowing = float(shape.levels[-quarter] - shape.levels[-1])
        if shape.best > floor + 0.1 * room or slowing > 0.1 * shape.fall or shape.points < 50:
            return
        fact, sure = "and falls ever slower towards it", 0.6
        evidence = [loss.evidence(0, len(loss) - 1)]
    yield Finding(
        id=identity,
        title=f"{loss.name} stays at {shape.last:.4g} {fact}: {floor:.4g} is the floor of a "
        f"softmax applied twice over {known:g} classes",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.RESEARCH, sure),
        basis=Basis.RESEARCH,
        evidence=tuple(evidence),
        first_step=loss.step(0),
        details={"kind": "double_softmax", "floor": floor},
    )


def _too_right(view: RunView, identity: str) -> Iterator[Finding]:
    """Nearly all right, in training and validation, at a loss of somebody who is unsure.

    Label smoothing and mixed samples raise the training loss alone.
    """
    loss, val_loss = view.curve("train/loss"), view.curve("val/loss")
    right = view.curve("train/accuracy") or view.curve("val/accuracy")
    val_right = view.curve("val/accuracy")
    if loss is None or val_loss is None or right is None or val_right is None:
        return
    if min(len(loss), len(val_loss), len(val_right)) < 4 or not view.facts.is_monotone:
        return
    hits = min(_end(binned_fraction(right)), _end(binned_fraction(val_right)))
    level, measured = _end(loss.bins[2]), _end(val_loss.bins[2])
    if not (hits >= 0.9 and min(level, measured) > 0.6 and abs(measured - level) < 0.15):
        return
    # A guess that is so often right costs this much, if it is as sure as it is right.
    usual = 3.0 * (1.0 - hits) + 0.3
    floor = min(level, measured) - (1.0 - hits)
    if floor < usual:
        return
    known = 1.0 + math.e * (math.exp(floor) - 1.0)
    # It began as a guess among as many; the floor of smoothed labels is another one.
    if abs(math.exp(min(float(loss.y[0]), 50.0)) / known - 1.0) > 0.2:
        return
    reached = _end(binned_fraction(val_right))
    yield Finding(
        id=identity,
        title=f"{loss.name} ends at {level:.4g} and {val_loss.name} at {measured:.4g} although "
        f"{val_right.name} is {reached:.3g}: a softmax applied twice over about {known:.0f} "
        "classes cannot get lower",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.RESEARCH, 0.75),
        basis=Basis.RESEARCH,
        evidence=(
            loss.evidence(0, len(loss) - 1),
            val_loss.evidence(len(val_loss) - 1),
            val_right.evidence(len(val_right) - 1),
        ),
        first_step=loss.step(0),
        details={"kind": "double_softmax", "floor": floor},
    )


def _classes_by_start(view: RunView) -> float | None:
    """An untrained classifier begins at ln(classes), with an accuracy of one in as many."""
    loss = view.curve("train/loss")
    right = view.curve("train/accuracy") or view.curve("val/accuracy")
    if loss is None or right is None or len(loss) < 8 or not begins_at_start(loss):
        return None
    if not np.isfinite(loss.y[:3]).all() or not 0.5 < loss.y[0] < 9:
        return None
    found = math.exp(float(np.median(loss.y[:3])))
    nearest = round(found)
    if nearest < 3 or abs(found - nearest) > 0.04 * nearest:
        return None
    scale = 100.0 if float(np.nanmax(right.bins[4], initial=0.0)) > 1.5 else 1.0
    return float(nearest) if right.y[0] / scale < 4.0 / nearest else None


def _classes_by_first_loss(view: RunView) -> float | None:
    """The very first batch costs what a guess among a few classes does, almost exactly."""
    loss = view.curve("train/loss")
    if loss is None or len(loss) < 8 or not begins_at_start(loss):
        return None
    first = float(loss.y[0])
    if not 1.0 < first < math.log(_MOST_CLASSES):
        return None
    nearest = round(math.exp(first))
    return float(nearest) if abs(first - math.log(nearest)) < _AT_ONCE else None


def _classes_by_both_sums(view: RunView) -> float | None:
    """As many as make both sums of loss and accuracy, where training and validation agree.

    The first record may be the mean of a whole epoch, which is no guess among all of them any more.
    """
    sums, seen = [], []
    for side in ("train", "val"):
        loss, right = view.curve(f"{side}/loss"), view.curve(f"{side}/accuracy")
        if loss is None or right is None or len(loss) != len(right) or len(loss) < 2 * _LEAST:
            return None
        costs, hits = loss.bins[2], binned_fraction(right)
        half = slice(len(costs) // 2, None)
        if not np.isfinite(costs[half]).all() or not np.isfinite(hits[half]).all():
            return None
        sums.append(costs[half] + hits[half])
        seen.append(hits[half])
    level = float(np.median(np.concatenate(sums)))
    nearest = round(math.exp(level) - math.e + 1.0) if level < 5.0 else 0
    if not 3 <= nearest <= _MOST_CLASSES:
        return None
    total = math.log(math.e + nearest - 1.0)
    is_sum = all(
        abs(float(np.median(each)) - total) < _BOTH_NEAR
        and float(np.max(np.abs(each - total))) < _NEAR
        for each in sums
    )
    hits = np.concatenate(seen)
    loss = view.curve("train/loss")
    # Before it learned it guessed among as many, or somewhat better by the end of an epoch.
    is_start = loss is not None and abs(float(loss.y[0]) - math.log(nearest)) < 0.15
    return float(nearest) if is_sum and is_start and float(np.ptp(hits)) >= _APART else None


def _end(values: Floats) -> float:
    """Level at the end, NaN if there is none."""
    tail = values[-max(3, len(values) // 10) :]
    return float(np.median(tail)) if np.isfinite(tail).all() else math.nan

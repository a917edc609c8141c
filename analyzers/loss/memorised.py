"""What both accuracies say together: known by heart, or never more than a guess."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from ..resources.trends import rank_correlation
from .levels import begins_at_start
from .outcomes import accuracy, binned_fraction

_BY_HEART = 0.98
_FAR_BELOW = 0.35
"""Healthy classifiers of small training sets are up to a third better on these."""
_NO_MISTAKE = 0.02
"""Mean cost of an answer that one mistake in fifty, if made for sure, exceeds by far."""
_LEAST = 6
_APART = 0.2


def has_memorised(view: RunView) -> bool:
    """Training makes no mistake any more, validation one in three or more."""
    pair = _both(view)
    if pair is None:
        return _has_memorised_by_loss(view)
    (_, fitted), (_, measured) = pair
    return _end(fitted) >= _BY_HEART and _end(fitted) - _end(measured) >= _FAR_BELOW


def _has_memorised_by_loss(view: RunView) -> bool:
    """The same where only the loss of training is told: so little costs no mistake at all."""
    train, right = view.curve("train/loss"), accuracy(view, "val")
    if train is None or right is None or accuracy(view, "train") is not None:
        return False
    if min(len(train), len(right)) < _LEAST or not begins_at_start(train):
        return False
    costs, measured = train.bins[2], binned_fraction(right)
    if not np.isfinite(costs).all() or not np.isfinite(measured).all():
        return False
    # Squared errors of shares begin lower than what a guess among two costs.
    is_certain = float(costs[0]) > 0.6 and 0 <= _end(costs) < _NO_MISTAKE
    return is_certain and 1.0 - _end(measured) >= _FAR_BELOW


def was_never_right(view: RunView, val_loss: Curve | None) -> bool:
    """Validation began at the loss and the accuracy of a guess, and never got above either."""
    pair = _both(view)
    first = float(val_loss.y[0]) if val_loss is not None and len(val_loss) else math.nan
    if pair is None or not 0.5 < first < 7.0:
        return False
    _, (_, measured) = pair
    classes = round(math.exp(first))
    is_guess = abs(first / math.log(classes) - 1.0) < 0.03
    most = min(1.35 / classes, 1.0 / classes + 0.1)
    return is_guess and float(np.max(measured)) <= most


def guess_of_validation(view: RunView) -> float | None:
    """What a guess costs, where validation began with one, got no better, and hits no more often.

    Trained weights that are tuned on, however gently, do better than that from the start.
    """
    val, right = view.curve("val/loss"), accuracy(view, "val")
    if val is None or right is None or min(len(val), len(right)) < _LEAST:
        return None
    costs, hits = val.bins[2], binned_fraction(right)
    first = float(costs[0])
    if not np.isfinite(costs).all() or not np.isfinite(hits).all() or not 0.6 < first < 4.0:
        return None
    classes = round(math.exp(first))
    guess = math.log(classes)
    is_guess = abs(first / guess - 1.0) < 0.01 and float(np.min(costs)) > 0.985 * guess
    later = hits[len(hits) // 2 :]
    is_random = 0.6 / classes < float(np.median(later)) and float(np.max(later)) < 1.25 / classes
    return guess if is_guess and is_random and _end(costs) >= first else None


def began_together(train: Curve, val: Curve) -> bool:
    """The first evaluation was as good as training was then, and each later one is worse.

    What reaches a model in another way does so from the first evaluation on. Where that came after
    much was learned, or is what a guess costs, it may be a little further off: a model that learns
    by heart is not better on other data.
    """
    at = int(np.searchsorted(train.x, val.step(0), side="right"))
    is_coarse = train.spacing > val.spacing / 4
    near = train.y[max(0, at - 1) : at] if is_coarse else train.y[max(0, at - 8) : at]
    if len(near) == 0 or len(val) < _LEAST or not np.isfinite(near).all():
        return False
    values = val.bins[2]
    is_rising = rank_correlation(values) > 0.8 and float(values[-1]) > 1.25 * float(values[0])
    # Only what is known by heart is memorised.
    began = float(np.max(train.y[:3]))
    known = float(np.median(train.bins[2][-3:])) / began if began > 0 else 1.0
    first, then = float(values[0]), float(np.median(near))
    if first < 1.2 * then:
        return is_rising and known < 0.1
    if first < 1.6 * then and _is_a_guess(first):
        return is_rising and known < 0.1
    is_late = float(near[-1]) < 0.5 * began
    return is_rising and known < 0.03 and is_late and first < 1.2 * began


def memorises(view: RunView) -> bool:
    """The same of the run's own losses."""
    train, val = view.curve("train/loss"), view.curve("val/loss")
    return train is not None and val is not None and began_together(train, val)


def _is_a_guess(loss: float) -> bool:
    """The loss of a guess among a few classes: there are too many to tell from other losses."""
    return any(abs(loss / math.log(classes) - 1.0) < 0.02 for classes in range(2, 6))


def guessing_validation(view: RunView, identity: str) -> Iterator[Finding]:
    """Training is right far more often from the first evaluation on; validation only guesses.

    Who memorises is as bad in both at first; who learns and is evaluated in another way is not.
    """
    pair, val_loss = _both(view), view.curve("val/loss")
    if pair is None or val_loss is None or len(val_loss) < _LEAST or not view.facts.is_monotone:
        return
    (train, fitted), (val, measured) = pair
    level, cost = _end(measured), float(np.median(val_loss.bins[2]))
    if len(train) != len(val) or not begins_at_start(val) or not 0.02 < level < 0.45:
        return
    is_flat = float(np.ptp(measured)) <= 0.1 and abs(level - float(measured[0])) <= 0.05
    is_apart = float(np.min(fitted[1:] - measured[1:])) >= _APART
    # It costs as much as a guess among as many as it would take to be right so seldom.
    is_guess = cost >= -0.9 * math.log(level)
    if not (is_flat and is_apart and is_guess) or _end(fitted) - level < 0.3:
        return
    yield Finding(
        id=identity,
        title=f"{val.name} stays at {level:.3g} in {len(val)} evaluations while {train.name} is "
        f"{_end(fitted):.3g}, and was far above it from the first on: validation only guesses",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(val.evidence(0, len(val) - 1), train.evidence(0, len(train) - 1)),
        first_step=val.step(0),
        details={"kind": "validation"},
    )


_RANKED = frozenset({"auc", "auroc", "rocauc"})
_AT_RANDOM = 0.55
"""Order that a model puts samples in, where half are right by chance."""


def ranks_at_random(view: RunView, identity: str) -> Iterator[Finding]:
    """Training is put in order ever better, other data never better than by chance."""
    for val in view.all_curves():
        role, words = val.series.role or "", set(normalise(val.name).split())
        if role.rpartition("/")[0] not in ("val", "test") or not words & _RANKED:
            continue
        train = _of_training(view, words)
        if train is None or min(len(val), len(train)) < _LEAST or not begins_at_start(val):
            continue
        measured, fitted = val.bins[2], train.bins[2]
        if not np.isfinite(measured).all() or not np.isfinite(fitted).all():
            continue
        level = _end(measured)
        is_random = level > 0.4 and float(np.max(measured)) < _AT_RANDOM
        if not is_random or _end(fitted) < level + _APART or _end(fitted) > 1.0:
            continue
        yield Finding(
            id=identity,
            title=f"{val.name} is {level:.3g} and was never above {np.max(measured):.3g} in "
            f"{len(val)} evaluations while {train.name} reached {_end(fitted):.3g}: what is "
            "learned holds for no other data",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85),
            basis=Basis.OBSERVATION,
            evidence=(val.evidence(0, len(val) - 1), train.evidence(0, len(train) - 1)),
            first_step=val.step(0),
            details={"guessed": 1.0, "gap": _end(fitted) - level},
        )
        return


def _of_training(view: RunView, words: set[str]) -> Curve | None:
    """The measure of training that a measure of validation belongs to."""
    for curve in view.all_curves():
        mine = set(normalise(curve.name).split())
        is_other = (curve.series.role or "").startswith(("val/", "test/"))
        if not is_other and mine & _RANKED and len(mine ^ words) <= 2:
            return curve
    return None


def _both(view: RunView) -> tuple[tuple[Curve, Floats], tuple[Curve, Floats]] | None:
    train, val = accuracy(view, "train"), accuracy(view, "val")
    if train is None or val is None or min(len(train), len(val)) < _LEAST:
        return None
    fitted, measured = binned_fraction(train), binned_fraction(val)
    if not np.isfinite(fitted).all() or not np.isfinite(measured).all():
        return None
    return (train, fitted), (val, measured)


def _end(values: Floats) -> float:
    return float(np.median(values[-max(3, len(values) // 4) :]))

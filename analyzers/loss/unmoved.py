"""Outcomes that stay where they began: what hardly changes a model hardly changes its answers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.view import RunView
from .levels import begins_at_start, is_warming_up
from .outcomes import accuracy, binned_fraction

_LEAST = 8
_DIGITS = 100.0
"""Units of its last digit that a value must have for standing still to mean something."""
_FINELY = 1000.0
"""The same for a loss, which no two batches share."""
_HARDLY = 0.02
_DOES_WELL = 0.75
_APART = 0.015
"""Accuracies that two digits do not print as neighbours."""
_SELDOM = 0.2
"""Where some classes are frequent, an accuracy says little about what a guess costs."""
_MANY_TIMES = 4.5
_AGAIN = 0.8
"""Share of evaluations that say the same as the one before, where inputs make no difference."""
_ASKED = 16
_OTHERS = 0.5
"""Share of evaluations that are unlike all others where samples are told apart."""
_OUTCOMES = ("val/accuracy", "val/score", "score")


def constant_outcomes(view: RunView) -> Evidence | None:
    """All that is measured on validation is bad, and the same to the last digit every time.

    What is good may stay so: a small validation set knows few values.
    """
    return _held(view, 0.0)


def never_changed(view: RunView, loss: Curve) -> bool:
    """Losses that are the same to the last of four digits or more, of validation, too."""
    for curve in (loss, view.curve("val/loss")):
        if curve is None:
            continue
        _, _, means, low, high, _ = curve.bins
        if not np.isfinite(means).all() or float(np.max(high)) != float(np.min(low)):
            return False
        if not _is_exact(abs(float(low[0])), _FINELY):
            return False
    return True


def hardly_moved(view: RunView) -> Evidence | None:
    """The same within a fiftieth, with a validation loss that drifts by less than a thousandth.

    Steps of a usual size on labels that say nothing throw both about; tiny ones leave them. Where
    nothing moves at all, it may also be one answer for all samples.
    """
    val = view.curve("val/loss")
    if val is None or len(val) < _LEAST or not np.isfinite(val.bins[2]).all():
        return None
    level = abs(float(np.median(val.bins[2])))
    if not 0 < float(np.ptp(val.bins[2])) < 1e-3 * level:
        return None
    return _held(view, _HARDLY) if constant_outcomes(view) is None else None


def _held(view: RunView, within: float) -> Evidence | None:
    shown: Evidence | None = None
    for role in _OUTCOMES:
        for curve in view.curves(role):
            _, _, means, low, high, _ = curve.bins
            level = float(np.median(means))
            if len(curve) < _LEAST or not np.isfinite(means).all() or level <= 0:
                return None
            if float(np.max(high) - np.min(low)) > within * level:
                return None
            if _DOES_WELL < level <= 1.0 or 100.0 * _DOES_WELL < level <= 100.0:
                return None
            if shown is None and _is_exact(level):
                shown = curve.evidence(0, len(curve) - 1)
    return shown


def _is_exact(level: float, units: float = _DIGITS) -> bool:
    """True if a value has three digits or more: 0.194, but not 0.9."""
    places = next((k for k in range(7) if round(level, k) == level), 7)
    return level * 10.0**places >= units


def deaf_to_inputs(view: RunView) -> Evidence | None:
    """A bad accuracy of validation that is the same as before at nearly all evaluations.

    The answer is one for all samples, and changes from class to class now and then. Labels without
    sense leave a model that tells samples apart, for nothing.
    """
    right = accuracy(view, "val")
    if right is None or len(right) < _LEAST:
        return None
    values = right.y[-4096:]
    if not np.isfinite(values).all():
        return None
    level = float(np.median(binned_fraction(right)))
    is_bad = 0 < level < _DOES_WELL and _tells_samples(values)
    if not is_bad or float(np.mean(np.diff(values) == 0)) < _AGAIN:
        return None
    return right.evidence(0, len(right) - 1)


def few_answers(view: RunView) -> Evidence | None:
    """Bad accuracies of validation that come again and again: fewer values than half of them.

    Each is the share of a class, which is what one answer for all samples earns. Labels without
    sense leave a model that tells samples apart, and is right by chance now here, now there.
    """
    right = accuracy(view, "val")
    if right is None or len(right) < _LEAST:
        return None
    values = right.y[-4096:]
    # Of many evaluations some are equal by chance: those of a few places are asked.
    asked = values[np.linspace(0, len(values) - 1, min(len(values), _ASKED)).astype(int)]
    if not np.isfinite(values).all() or not _tells_samples(values):
        return None
    level = float(np.median(binned_fraction(right)))
    if not 0 < level < _DOES_WELL or len(np.unique(asked)) >= _OTHERS * len(asked):
        return None
    return right.evidence(0, len(right) - 1)


def _tells_samples(values: Floats) -> bool:
    """Digits enough that two evaluations are not the same by rounding: 0.096, 10.3 %, not 0.25."""
    is_percent = float(np.max(values)) > 1.5
    shares = np.unique(values)[:16] / (100.0 if is_percent else 1.0)
    return any(round(one, 2) != round(one, 6) for one in shares.tolist())


def one_answer(view: RunView, identity: str) -> Iterator[Finding]:
    """Evaluations that know two or three values only: the same answer to all, now this, now that.

    Each value is the share of a class. Whoever tells samples apart is right more or less often by
    single samples; coarse digits, which would look the same, are neighbours.
    """
    val, right = view.curve("val/loss"), accuracy(view, "val")
    if val is None or right is None or len(right) < _LEAST or len(val) < _LEAST:
        return
    if not view.facts.is_monotone or not begins_at_start(right) or is_warming_up(view, right):
        return
    hits, costs = binned_fraction(right), val.bins[2]
    if not np.isfinite(hits).all() or not np.isfinite(costs).all():
        return
    known = np.unique(hits)
    gap = float(np.min(np.diff(known))) if 2 <= len(known) <= 3 else 0.0
    returns = int(np.sum(np.diff(hits) != 0))
    if gap < _APART or returns < 3 or known[-1] > _DOES_WELL:
        return
    # It never got better than the shares of the classes allow, which it knew at once.
    first, level = float(costs[0]), float(np.median(costs))
    is_flat = float(np.ptp(costs)) < 0.03 * abs(level) and first - level < 0.02 * abs(level)
    if not is_flat or level < 0.9 * _unsure(float(known[-1])) or _has_learned(view, known):
        return
    yield Finding(
        id=identity,
        title=f"{right.name} is {' or '.join(f'{one:.3g}' for one in known)} in all of "
        f"{len(right)} evaluations, with {val.name} at {level:.4g} since the first: the same "
        "answer to every sample",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(right.evidence(0, len(right) - 1), val.evidence(0, len(val) - 1)),
        first_step=(view.curve("train/loss") or val).step(0),
        details={"at_chance": 1.0, "level": level},
    )


def _unsure(share: float) -> float:
    """The least that a guess costs whose best answer is right so often."""
    return -share * math.log(share) - (1.0 - share) * math.log(1.0 - share)


def _has_learned(view: RunView, known: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Training is right more often than such answers are."""
    train = accuracy(view, "train")
    if train is None or len(train) < 4:
        return False
    reached = binned_fraction(train)
    later = reached[len(reached) // 2 :]
    return bool(np.nanmedian(later) > float(known[-1]) + 0.08)


def worse_than_a_guess(view: RunView, identity: str) -> Iterator[Finding]:
    """A loss many times that of a guess, right no more often than at first in the whole run.

    Its fall is that of a model that becomes less sure of answers that stay wrong.
    """
    loss, train, val = view.curve("train/loss"), accuracy(view, "train"), accuracy(view, "val")
    if loss is None or train is None or val is None or not view.facts.is_monotone:
        return
    if min(len(loss), len(train), len(val)) < 10 or not begins_at_start(loss):
        return
    if is_warming_up(view, loss):
        return
    hits = []
    for curve in (train, val):
        values = binned_fraction(curve)
        if not np.isfinite(values).all():
            return
        third = max(3, len(values) // 3)
        begin, end = float(np.mean(values[:third])), float(np.mean(values[-third:]))
        noise = float(np.std(np.diff(values))) / np.sqrt(third)
        if not 0.03 < end < _SELDOM or end - begin > max(0.25 * begin, 2 * noise):
            return
        hits.append(end)
    costs = loss.bins[2]
    level, guess = float(np.median(costs[-max(3, len(costs) // 5) :])), -math.log(max(hits))
    # Of both splits: they guess alike.
    if abs(hits[0] - hits[1]) > 0.25 * max(hits) or not level > _MANY_TIMES * guess:
        return
    yield Finding(
        id=identity,
        title=f"{train.name} is {hits[0]:.3g} and {val.name} {hits[1]:.3g} as in the beginning, "
        f"while {loss.name} at {level:.4g} is still {level / guess:.2g} times that of such a guess",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(
            train.evidence(0, len(train) - 1),
            loss.evidence(0, len(loss) - 1),
            val.evidence(0, len(val) - 1),
        ),
        first_step=loss.step(0),
        details={"level": level, "above": float(costs[0]) / guess},
    )

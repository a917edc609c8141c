"""After a jump of the loss: signs that the model has changed, and not what it is fed.

Where the loss is that of a guess since then, both look alike: labels without sense leave nothing
but a guess, and so do weights that were lost.
"""

from __future__ import annotations

import numpy as np

from ..core.curve import Curve
from ..core.finding import Evidence
from ..core.view import RunView
from .outcomes import accuracy, as_fraction

_FEW = 8
_GUESS = 0.85
"""Share of its first level from which on a loss knows nothing."""
_AS_MUCH = (0.75, 1.35)
"""How far validation may rise, as a share of what training does, where both rise alike."""
_FLAT = 0.45
"""Share of its norm before that a gradient has in a place that one was thrown to."""
_DISTINCT = 0.6
"""Share of evaluations that differ where samples are told apart, if for nothing."""
_SELDOM = 0.5


def changed_itself(view: RunView, step: float | None) -> Evidence | None:
    """What shows best that the model is another one since a step, whatever its data are."""
    return one_answer_since(view, step) or _rose_alike(view, step) or _flatter_since(view, step)


def one_answer_since(view: RunView, step: float | None) -> Evidence | None:
    """Evaluations after a jump that know a few bad values only: one answer to every sample."""
    right = accuracy(view, "val") or accuracy(view, "test")
    if right is None or step is None:
        return None
    at = int(np.searchsorted(right.x, step))
    later, earlier = as_fraction(right)[at:][-4096:], as_fraction(right)[:at][-4096:]
    if len(later) < 5 or len(earlier) < 2 or not np.isfinite(later).all():
        return None
    is_lost = float(np.max(later)) < min(_SELDOM, 0.7 * float(np.median(earlier[-3:])))
    if not is_lost or len(np.unique(later)) >= _DISTINCT * len(later):
        return None
    # Two digits know few values, too.
    if all(round(100 * value, 6) == round(100 * value) for value in later.tolist()):
        return None
    return right.evidence(at, len(right) - 1)


def _rose_alike(view: RunView, step: float | None) -> Evidence | None:
    """Validation, whose data stay the same, got worse by as much as training did."""
    train, val = view.curve("train/loss"), view.curve("val/loss")
    if train is None or val is None or step is None:
        return None
    at, after = int(np.searchsorted(train.x, step)), int(np.searchsorted(val.x, step))
    if at < _FEW or after < 2 or len(val) - after < 2 or len(train) - at < 2 * _FEW:
        return None
    known, is_judged = float(val.y[after - 1]), False
    level = float(np.median(train.y[max(0, at - 2 * _FEW) : at]))
    shares = []
    for position in range(max(after, len(val) - 3), len(val)):
        near = int(np.searchsorted(train.x, val.step(position), side="right"))
        now = float(np.median(train.y[max(at, near - _FEW) : near + _FEW // 2]))
        if not now > level:
            return None
        is_judged = not _is_guess(train, now)
        shares.append((float(val.y[position]) - known) / (now - level))
    if not is_judged or not all(_AS_MUCH[0] < share < _AS_MUCH[1] for share in shares):
        return None
    return val.evidence(after - 1, len(val) - 1)


def _flatter_since(view: RunView, step: float | None) -> Evidence | None:
    """Gradients burst at the jump and are far smaller since, at a loss that is no guess."""
    train, norm = view.curve("train/loss"), view.curve("grad_norm")
    if train is None or norm is None or step is None or view.facts.grad_norm_flaw:
        return None
    at = int(np.searchsorted(norm.x, step))
    before, burst, later = norm.y[max(0, at - 64) : at], norm.y[at : at + 4], norm.y[at + 4 :]
    later = later[-max(_FEW, len(later) // 2) :]
    if len(before) < _FEW or len(later) < _FEW or not np.isfinite(before).all():
        return None
    usual, now = float(np.median(before)), float(np.median(later))
    if _is_guess(train, float(np.median(train.y[-_FEW:]))):
        return None
    if not (float(np.max(burst)) > 3.0 * usual and now < _FLAT * usual):
        return None
    return norm.evidence(at, len(norm) - 1)


def _is_guess(train: Curve, level: float) -> bool:
    return not level < _GUESS * float(np.median(train.y[:3]))

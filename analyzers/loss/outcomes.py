"""Accuracies and other outcomes beside the loss: what they say about progress."""

from __future__ import annotations

import math

import numpy as np

from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.finding import Evidence
from ..core.view import RunView
from ..resources.trends import rank_correlation
from .levels import Shape, shape_of


def accuracy(view: RunView, split: str) -> Curve | None:
    """The accuracy curve of a split."""
    return view.curve(f"{split}/accuracy")


def as_fraction(curve: Curve) -> Floats:
    """Accuracy between 0 and 1, also where it is logged in percent."""
    return curve.y / 100.0 if _is_percent(curve) else curve.y


def binned_fraction(curve: Curve) -> Floats:
    """The same in bins, of which there are few however long the run is."""
    mean = curve.bins[2]
    return mean / 100.0 if _is_percent(curve) else mean


def _is_percent(curve: Curve) -> bool:
    high = curve.bins[4]
    return len(high) > 0 and float(np.nanmax(high, initial=0.0)) > 1.5


def classes(view: RunView) -> float | None:
    """How many classes there are: the config's number, or a vocabulary."""
    for meaning in ("classes", "vocab_size"):
        number = view.settings.number(meaning)
        if number is not None and number >= 2:
            return number
    return None


def chance_loss(view: RunView) -> float | None:
    """Cross-entropy of guessing, if the number of classes is known."""
    known = classes(view)
    return math.log(known) if known is not None else None


def is_improving(view: RunView) -> bool:
    """True if some outcome other than the training loss has clearly got better."""
    for role in ("val/loss", "val/perplexity"):
        curve = view.curve(role)
        shape = shape_of(curve) if curve is not None else None
        if shape is not None and shape.gain > 0.1 and shape.first - shape.last > 4 * shape.error:
            return True
    for role in ("train/accuracy", "val/accuracy", "score", "val/score", "reward", "val/reward"):
        curve = view.curve(role)
        shape = shape_of(curve) if curve is not None else None
        if shape is None:
            continue
        now = max(shape.levels[-1], shape.levels[-2])
        if role.endswith("/accuracy") and _is_less_than_a_guess(view, curve, float(now)):
            continue
        rise = now - shape.first
        scale = max(abs(shape.first), 0.02 * float(np.max(np.abs(shape.levels))))
        if rise > 0.2 * scale and rise > 6 * shape.error:
            return True
    return False


def _is_less_than_a_guess(view: RunView, curve: Curve | None, level: float) -> bool:
    """Right no more often than a guess among the classes that the settings name."""
    known = view.settings.number("classes")
    if curve is None or known is None or known < 2:
        return False
    is_percent = float(np.nanmax(curve.bins[4], initial=0.0)) > 1.5
    return level <= (100.0 if is_percent else 1.0) / known


def is_fine_tuning(view: RunView) -> bool:
    """True if the settings say that training began from trained weights."""
    words = ("pretrained", "finetune", "fine tune", "lora", "peft", "from pretrained", "adapter")
    for setting in view.settings:
        name = setting.path.rpartition(".")[2].casefold().replace("_", " ").replace("-", " ")
        if any(word in name for word in words) and setting.value not in (False, None, "", "false"):
            return True
        if name.endswith(("name or path", "init from", "init checkpoint")) and setting.value:
            return setting.text not in ("scratch", "none", "random")
    return False


GENTLE = 6e-4
"""Peak learning rate below which trained weights may be tuned."""
_UNTRAINED = 4.0
"""A loss that only untrained models of language have."""


def peak_rate(view: RunView) -> float | None:
    """The highest learning rate that the log or the config shows."""
    logged, setting = view.curve("lr"), view.settings.learning_rate()
    if logged is not None and len(logged):
        highest = logged.bins[4]
        if np.isfinite(highest).any():
            return float(np.nanmax(highest))
    return setting.number if setting is not None else None


def may_be_fine_tuning(view: RunView, loss: Curve) -> bool:
    """True if nothing but a flat loss speaks against trained weights that are tuned on.

    Their loss moves little and scatters from batch to batch; a model that guesses does neither.
    """
    rate = peak_rate(view)
    if rate is None or rate > GENTLE or not len(loss):
        return False
    level = abs(float(np.nanmedian(loss.y[-64:])))
    shape = shape_of(loss)
    creeps = shape is not None and shape.gain > 0.02 and rank_correlation(shape.levels) < -0.5
    return level < _UNTRAINED and (loss.noise > 0.02 * level or creeps)


def creeps_down(view: RunView, shape: Shape) -> bool:
    """True if training and validation come down all the time, if by little."""
    val = view.curve("val/loss")
    if val is None or len(val) < 5 or shape.gain < 0.03:
        return False
    return rank_correlation(val.bins[2]) < -0.8


_WELL = 0.8
_SAME_ANSWER = 3
"""Values that the share of one class and its neighbours take; who tells samples apart has more."""


def does_well(view: RunView, loss: float) -> bool:
    """True if most answers are right, by an accuracy that varies, at a loss that fits it."""
    measured = [curve for split in ("val", "train") if (curve := accuracy(view, split)) is not None]
    is_judged = False
    for curve in measured:
        later = binned_fraction(curve)[len(curve.bins[2]) // 2 :]
        if len(later) < 4 or not np.isfinite(later).all():
            continue
        hits, is_judged = float(np.median(later)), True
        # What is right so often costs this much at most, unless the output layer is wrong.
        fits = loss <= 3.0 * (1.0 - hits) + 0.3
        if hits < _WELL or not fits or len(np.unique(later)) <= _SAME_ANSWER:
            return False
    return is_judged or (not measured and _scores_well(view))


def _scores_well(view: RunView) -> bool:
    """The same by a score that is 1 at best: an area, an overlap, a share that is explained."""
    for role in ("val/score", "score"):
        for curve in view.curves(role):
            later = curve.bins[2][len(curve.bins[2]) // 2 :]
            is_share = float(np.nanmax(curve.bins[4], initial=0.0)) <= 1.0
            if is_share and len(later) >= 4 and float(np.nanmedian(later)) >= _WELL:
                return len(np.unique(later)) > _SAME_ANSWER
    return False


def unlearned(view: RunView) -> Evidence | None:
    """A loss that had come clearly below that of a guess, and is back at it: it had learned."""
    loss, guess = view.curve("train/loss"), chance_loss(view)
    if loss is None or guess is None:
        return None
    _, _, mean, low, _, counts = loss.bins
    seen = (counts > 0) & np.isfinite(mean)
    if int(seen.sum()) < 8:
        return None
    few = max(2, int(seen.sum()) // 5)
    now, lowest = float(np.median(mean[seen][-few:])), float(np.nanmin(low[seen][:-few]))
    if now < 0.95 * guess or lowest > 0.9 * guess:
        return None
    return loss.remark(f"was {lowest:.4g}, below the {guess:.4g} of a guess, and is {now:.4g}")

"""Data in order: batches of one class each, or blocks that come again in every epoch."""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats

from ..core.finding import Evidence
from ..core.view import RunView
from .outcomes import accuracy, as_fraction

_LEAST = 60
_WRONG, _RIGHT = 0.05, 0.9
_MOST = 1024
_SHORTEST = 6
_AGAIN = 0.85


def one_class_batches(view: RunView) -> Evidence | None:
    """Accuracies of single batches that say so; batches of one sample have nothing in between."""
    curve = accuracy(view, "train")
    if curve is None or len(curve) < _LEAST:
        return None
    values = as_fraction(curve)[-4096:]
    values = values[np.isfinite(values)]
    if len(values) < _LEAST:
        return None
    between = (values > _WRONG) & (values < _RIGHT)
    wrong, right = float(np.mean(values <= _WRONG)), float(np.mean(values >= _RIGHT))
    is_split = float(np.mean(between)) < 0.2 and min(wrong, right) > 0.03
    if not is_split or len(np.unique(values[between])) < 3:
        return None
    return curve.remark(f"{wrong:.0%} of the batches are all wrong, {right:.0%} all right")


def same_blocks(view: RunView) -> Evidence | None:
    """A training loss that goes through the same ups and downs again and again, in blocks.

    Batches drawn at random have no order to repeat; a constant model on batches in order has one,
    and blocks in it only if neighbours are alike.
    """
    curve = view.curve("train/loss")
    if curve is None or len(curve) < _LEAST or curve.is_interleaved:
        return None
    values = curve.y[len(curve) // 4 :][-_MOST:]
    if not np.isfinite(values).all():
        return None
    level = abs(float(np.median(values)))
    values = values - float(np.mean(values))
    if float(np.std(values)) < 0.01 * level:
        return None
    lags = np.arange(_SHORTEST, len(values) // 3)
    likeness = np.array([_alike(values, lag) for lag in lags.tolist()])
    if len(lags) == 0 or _alike(values, 1) < 0.3 or float(np.min(likeness)) > 0.3:
        return None
    best = int(np.argmax(likeness))
    if float(likeness[best]) < _AGAIN:
        return None
    period = float(lags[best]) * curve.spacing
    return curve.remark(f"goes through the same ups and downs every {period:.10g} steps")


def _alike(values: Floats, lag: int) -> float:
    """How much values are like those a distance before them."""
    early, late = values[:-lag], values[lag:]
    size = float(np.sqrt((early @ early) * (late @ late)))
    return float(early @ late) / size if size > 0 else 0.0

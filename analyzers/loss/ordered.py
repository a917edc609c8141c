"""Batches of one class each: all right or all wrong, hardly ever in between."""

from __future__ import annotations

import numpy as np

from ..core.finding import Evidence
from ..core.view import RunView
from .outcomes import accuracy, as_fraction

_LEAST = 60
_WRONG, _RIGHT = 0.05, 0.9


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

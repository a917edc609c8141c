"""What the first epoch says: it shows a model samples that it has never seen."""

from __future__ import annotations

import numpy as np

from ..core.finding import Evidence
from ..core.view import RunView
from .outcomes import accuracy, binned_fraction

_LEAST = 4
_COSTLIER = 1.1
"""Times the loss of the first epoch that validation stays above."""
_RIGHTER = 0.1
"""Share of answers that only the training set gets right."""


def never_as_good_as_first_epoch(view: RunView) -> Evidence | None:
    """A validation that at no time does as well as training did over its first epoch.

    Nothing is known by heart before it comes a second time, so that the mean of the first epoch is
    what the model does on new samples while it still learns. Validation behind that epoch is no
    worse, unless other data, or the same data in another way, reach the model there.
    """
    train, val = view.curve("train/loss"), view.curve("val/loss")
    if train is None or val is None or len(val) < _LEAST or len(train) < _LEAST:
        return None
    if not (train.axis_name == val.axis_name == "epoch") or not view.facts.is_monotone:
        return None
    # One value per epoch, from the first one on; trees, too, number what they add from 1 on.
    if train.step(0) != val.step(0) or train.step(0) > 1 or train.spacing != val.spacing:
        return None
    costs = val.bins[2]
    first = float(train.y[0])
    if not np.isfinite(costs).all() or not 0 < first * _COSTLIER < float(np.min(costs)):
        return None
    fitted, right = accuracy(view, "train"), accuracy(view, "val")
    if fitted is not None and right is not None and min(len(fitted), len(right)) >= _LEAST:
        reached = float(np.nanmax(binned_fraction(right)))
        if not float(binned_fraction(fitted)[0]) - reached > _RIGHTER:
            return None
    return val.evidence(0, len(val) - 1, f"never below the {first:.4g} of the first epoch's mean")

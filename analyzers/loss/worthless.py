"""Whether what a model puts out is all wrong, by a measure whose worst value is known."""

from __future__ import annotations

import numpy as np

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.view import RunView

_RATES = frozenset({"wer", "cer", "ter", "per"})
_ALL = 0.97
_LEAST = 4


def all_wrong(view: RunView) -> Curve | None:
    """An error rate that was all the time, and is when the rate has decayed, that of no answer.

    While a run goes on at its full rate this is how recognisers of speech begin.
    """
    if not view.facts.is_decayed:
        return None
    for curve in view.all_curves():
        bare = (curve.series.role or "").rpartition("/")[2]
        # Elsewhere in a name, `per` is a word like any other.
        if bare != "error_rate" and normalise(curve.name).rpartition(" ")[2] not in _RATES:
            continue
        means = curve.bins[2]
        if len(curve) < _LEAST or not np.isfinite(means).all():
            continue
        scale = 100.0 if float(np.max(means)) > 2.0 else 1.0
        if _ALL * scale <= float(np.min(means)) and float(np.max(means)) <= 1.5 * scale:
            return curve
    return None

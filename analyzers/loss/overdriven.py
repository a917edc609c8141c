"""A learning rate that no adaptive optimizer bears, stated or logged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.finding import Evidence
from ..core.optimizers import adaptive_optimizer
from ..core.view import RunView

_UNBEARABLE = 0.1


@dataclass(frozen=True, slots=True)
class Overdriven:
    """The rate, why it is that of an adaptive optimizer, and where both are seen."""

    rate: float
    optimizer: str
    evidence: tuple[Evidence, ...]


def overdriven(view: RunView) -> Overdriven | None:
    """The highest rate of the run, if it is hundreds of times what its optimizer bears."""
    highest = _highest_rate(view)
    if highest is None or highest[0] < _UNBEARABLE:
        return None
    rate, seen = highest
    optimizer = adaptive_optimizer(view)
    if optimizer is None:
        return None
    return Overdriven(rate, optimizer.name, (seen, *optimizer.evidence))


def _highest_rate(view: RunView) -> tuple[float, Evidence] | None:
    curve = view.curve("lr")
    if curve is not None and len(curve) >= 4 and np.isfinite(curve.bins[4]).all():
        peak = float(np.max(curve.bins[4]))
        return peak, curve.remark(f"reaches {peak:.3g}")
    setting = view.settings.learning_rate()
    if setting is None or setting.number is None:
        return None
    return setting.number, setting.evidence

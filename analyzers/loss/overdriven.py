"""A learning rate that no adaptive optimizer bears, stated or logged."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..core.finding import Evidence
from ..core.view import RunView

_ADAPTIVE = re.compile(r"adam|lamb\b|lion|adafactor|sophia|rmsprop", re.IGNORECASE)
"""Steps of these are as long as the rate says, whatever the gradient: 3e-4 is usual."""
_TRAINERS = (
    ("Megatron-LM", frozenset({"consumed samples", "elapsed time per iteration (ms)"})),
    ("the Trainer of transformers", frozenset({"loss", "learning_rate", "eval_runtime"})),
    ("the Trainer of transformers", frozenset({"loss", "learning_rate", "train_runtime"})),
    ("nanoGPT", frozenset({"loss", "time", "mfu"})),
)
"""Programs that step with Adam unless told otherwise, by what they log."""
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
    optimizer = view.settings.get("optimizer")
    if optimizer is not None:
        if not _ADAPTIVE.search(optimizer.text):
            return None
        return Overdriven(rate, optimizer.text, (seen, optimizer.evidence))
    names = {series.name for series in view.run.series}
    for trainer, telling in _TRAINERS:
        if telling <= names:
            return Overdriven(rate, f"{trainer}, which steps with Adam", (seen,))
    return None


def _highest_rate(view: RunView) -> tuple[float, Evidence] | None:
    curve = view.curve("lr")
    if curve is not None and len(curve) >= 4 and np.isfinite(curve.bins[4]).all():
        peak = float(np.max(curve.bins[4]))
        return peak, curve.remark(f"reaches {peak:.3g}")
    setting = view.settings.learning_rate()
    if setting is None or setting.number is None:
        return None
    return setting.number, setting.evidence

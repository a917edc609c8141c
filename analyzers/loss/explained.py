"""What a coefficient of determination says: at 0 a model is worth as much as the mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .levels import begins_at_start, is_warming_up

_NAMES = (("r2",), ("r", "squared"), ("explained", "variance"))
_NOTHING = 0.05
"""Share of the variance from which on something is explained."""
_LEAST = 8


def explains_nothing(view: RunView, identity: str) -> Iterator[Finding]:
    """A score that never left that of foretelling the mean, on the scale that knows it."""
    if not view.facts.is_monotone:
        return
    for words in _NAMES:
        for curve in view.named(*words):
            if "loss" in normalise(curve.name).split() or not _is_nothing(view, curve):
                continue
            now = float(np.median(curve.bins[2][-3:]))
            yield Finding(
                id=identity,
                title=f"{curve.name} is {now:.3g} after {len(curve)} evaluations and was never "
                f"above {_NOTHING:g}: no better than always foretelling the mean",
                severity=Severity.CRITICAL,
                confidence=finding_confidence(Basis.OBSERVATION, 0.85),
                basis=Basis.OBSERVATION,
                evidence=(curve.evidence(0, len(curve) - 1),),
                first_step=curve.step(0),
                details={"at_chance": 1.0, "level": now},
            )
            return


def _is_nothing(view: RunView, curve: Curve) -> bool:
    if len(curve) < _LEAST or not begins_at_start(curve) or is_warming_up(view, curve):
        return False
    _, _, means, _, highest, counts = curve.bins
    if int(counts.sum()) < len(curve) or float(np.max(highest)) > _NOTHING:
        return False
    # What rises, if by little, may only be slow.
    quarter = max(2, len(means) // 4)
    return float(np.median(means[-quarter:]) - np.median(means[quarter : 2 * quarter])) < 0.02

"""A softmax applied twice, by the sum of loss and accuracy that it cannot leave."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .outcomes import binned_fraction

_LEAST = 4
_RIGHT = 0.6
"""Accuracy from which on a plain cross-entropy is far lower."""
_NEAR = 0.03


def softmax_twice(view: RunView, known: float, identity: str) -> Iterator[Finding]:
    """Probabilities taken for logits: a right answer costs one less than a wrong one, always.

    A certain answer has a probability of 1; as a logit among zeros it costs log(e + K - 1) - 1 if
    it is right, and log(e + K - 1) if it is wrong. Loss and accuracy then have a fixed sum.
    """
    loss, right = view.curve("val/loss"), view.curve("val/accuracy")
    if loss is None or right is None or len(loss) != len(right) or len(loss) < 2 * _LEAST:
        return
    costs, hits = loss.bins[2], binned_fraction(right)
    half = slice(len(costs) // 2, None)
    costs, hits = costs[half], hits[half]
    if not np.isfinite(costs).all() or not np.isfinite(hits).all():
        return
    total = math.log(math.e + known - 1.0)
    is_sum = float(np.max(np.abs(costs + hits - total))) < _NEAR
    if (
        len(costs) < _LEAST
        or not is_sum
        or float(np.min(hits)) < _RIGHT
        or float(np.max(hits)) > 1.0
    ):
        return
    yield Finding(
        id=identity,
        title=f"{loss.name} is {costs[-1]:.4g} with {right.name} at {hits[-1]:.3g}: their sum "
        f"stays at {total:.4g}, as that of a softmax applied twice over {known:g} classes",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.RESEARCH, 0.75),
        basis=Basis.RESEARCH,
        evidence=(loss.evidence(0, len(loss) - 1), right.evidence(0, len(right) - 1)),
        first_step=loss.step(0),
        details={"kind": "double_softmax", "floor": total - 1.0},
    )

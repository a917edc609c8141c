"""A rate that was held and then grows by the same factor from record to record, without end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity

_HELD, _LEAST = 0.1, 8
"""Share of the records, and number of them, for which it stood still before and grows since."""
_GROWN = 10.0
_EVEN = 0.2
"""Spread of the factors beside their mean: a warm-up adds, and its factors become ever smaller."""


def creeps_up(curve: Curve, identity: str) -> Iterator[Finding]:
    """A decay whose factor is above 1; a search for a rate does so from its first step on."""
    rates = curve.y
    if len(rates) < _LEAST or not rates[-1] >= _GROWN * rates[0] > 0:
        return
    moves = np.flatnonzero(np.diff(rates))
    if len(moves) == 0:
        return
    at = int(moves[0]) + 1
    rest = rates[at:]
    if at < max(_LEAST, _HELD * len(rates)) or len(rest) < _LEAST or not np.all(np.diff(rest) > 0):
        return
    factors = np.diff(np.log(rest)) / np.diff(curve.x[at:])
    if not np.isfinite(factors).all() or float(np.std(factors)) > _EVEN * float(np.mean(factors)):
        return
    step, each = curve.step(at), float(np.expm1(np.mean(factors)))
    yield Finding(
        id=identity,
        title=f"{curve.name} was held at {rates[0]:.4g} and grows without end since "
        f"{curve.axis_name} {step:.10g}, by {each:.2%} a {curve.axis_name}, to "
        f"{rest[-1]:.4g} ({rest[-1] / rates[0]:.3g}x)",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9),
        basis=Basis.OBSERVATION,
        evidence=(curve.evidence(at, len(curve) - 1),),
        first_step=step,
        details={"kind": "creeping", "factor": float(rest[-1] / rates[0])},
    )

"""A warm-up as long as the run: the rate that was meant is never reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .completion import is_complete
from .levels import begins_at_start, shape_of

_LEAST = 8
_WON = 0.25
"""Share of the first loss; who wins more has a rate that is high enough."""


def never_arrived(view: RunView, rate: Curve, identity: str) -> Iterator[Finding]:
    """A rate that rises evenly from next to nothing to the last planned step, for nothing."""
    loss = view.curve("train/loss")
    shape = shape_of(loss) if loss is not None else None
    if loss is None or shape is None or len(rate) < _LEAST or not is_complete(view, rate):
        return
    rates = rate.bins[2]
    if not begins_at_start(rate) or not view.facts.is_monotone or rates[-1] <= 0:
        return
    # Evenly: a search for the best rate multiplies it, and means to go on until it breaks.
    middle = float(rates[len(rates) // 2] / rates[-1])
    is_rising = bool(np.all(np.diff(rates) >= 0)) and float(rates[0]) < 0.1 * float(rates[-1])
    still = float(rates[-1] - rates[-max(2, len(rates) // 10)]) > 0.05 * float(rates[-1])
    if not is_rising or not still or not 0.3 < middle < 0.7:
        return
    won = shape.first - float(np.median(shape.levels[-max(2, len(shape.levels) // 5) :]))
    if won > max(_WON * abs(shape.first), 0.0):
        return
    yield Finding(
        id=identity,
        title=f"{rate.name} still rises at {rate.axis_name} {rate.x[-1]:.10g}, where the run ends: "
        f"the warm-up is as long as the run, and {loss.name} is {shape.last:.4g} after "
        f"{shape.first:.4g}",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.88),
        basis=Basis.OBSERVATION,
        evidence=(rate.evidence(0, len(rate) - 1), loss.evidence(0, len(loss) - 1)),
        first_step=rate.step(0),
        details={"kind": "warming"},
    )

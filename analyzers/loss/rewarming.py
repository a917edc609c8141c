"""A rate that had begun to decay and is warmed up once more, far beyond its first peak."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity

_LEAST = 4
"""Records of the decay before the turn, and of the climb behind it."""
_DECAYED = 0.9
"""Share of its peak that the rate must have fallen below."""
_BEYOND = 1.5
"""How many times the former peak: cycles come back to theirs, or stay below it."""


def warms_up_again(curve: Curve, identity: str) -> Iterator[Finding]:
    """The second warm-up of one schedule: one that was begun anew, for another rate."""
    if len(curve) < 4 * _LEAST or not _may_rise_again(curve.bins[4]):
        return
    rates = curve.y
    peaks = np.maximum.accumulate(rates)
    lows = np.flatnonzero(rates < _DECAYED * peaks)
    lows = lows[lows < len(rates) - _LEAST]
    if len(lows) == 0:
        return
    higher = np.flatnonzero(rates[lows[0] :] > _BEYOND * peaks[lows[0]])
    if len(higher) == 0:
        return
    top = int(lows[0] + higher[0])
    turn = int(lows[0] + np.argmin(rates[lows[0] : top]))
    first_peak = float(peaks[turn])
    decay = np.diff(rates[max(0, turn - _LEAST) : turn + 1])
    highest = turn + int(np.argmax(rates[turn:]))
    climb = np.diff(rates[turn : highest + 1])
    is_decay = len(decay) == _LEAST and bool(np.all(decay <= 0)) and float(decay.sum()) < 0
    is_climb = len(climb) >= _LEAST and bool(np.all(climb >= 0))
    if not (is_decay and is_climb) or rates[turn] <= 0:
        return
    # One leap is a jump, which is told as such.
    if float(climb.max()) > 0.5 * float(rates[highest] - rates[turn]):
        return
    at = turn + 1
    yield Finding(
        id=identity,
        title=f"{curve.name} had decayed from {first_peak:.4g} to {rates[turn]:.4g} and is warmed "
        f"up again from {curve.axis_name} {curve.step(at):.10g} on, to {rates[highest]:.4g}, "
        f"{rates[highest] / first_peak:.3g} times its first peak",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.92),
        basis=Basis.OBSERVATION,
        evidence=(curve.evidence(turn, highest),),
        first_step=curve.step(at),
        details={"kind": "rewarming", "factor": float(rates[highest] / first_peak)},
    )


def _may_rise_again(highest: Floats) -> bool:
    """A glance at the bins, of which there are few however long the run is."""
    peaks = np.maximum.accumulate(highest)
    low = np.flatnonzero(highest < _DECAYED * peaks)
    return len(low) > 0 and bool(np.any(highest[low[0] :] > _BEYOND * peaks[low[0]]))

"""Replicas of one model that part: what every rank must have in common differs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView

_LEAST = 10
"""Logged points in which they were equal to the last digit, and in which they are not."""
_ROLE = "param_norm"


def parted_replicas(view: RunView, identity: str) -> Iterator[Finding]:
    """Norms of all parameters that were equal on all ranks for long, and no longer are.

    Ranks of a model that is cut into parts have never had equal norms.
    """
    curves = [curve for curve in view.curves(_ROLE) if curve.series.rank is not None]
    if len(curves) < 2:
        return
    first, *others = curves
    places = [(place, other) for other in others if (place := _parted(first, other)) is not None]
    if not places:
        return
    at, other = min(places, key=lambda pair: pair[0])
    step = first.step(at)
    yield Finding(
        id=identity,
        title=f"replicas have parted since {first.axis_name} {step:.10g}: {first.name} and "
        f"{other.name} were equal to the last digit in {at} records and end at {first.y[-1]:.6g} "
        f"and {other.y[-1]:.6g}",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9),
        basis=Basis.OBSERVATION,
        evidence=(
            first.evidence(at, len(first) - 1),
            other.evidence(at, len(other) - 1),
        ),
        first_step=step,
        details={"kind": "replicas"},
    )


def _parted(first: Curve, other: Curve) -> int | None:
    """The first point at which two curves over the same steps differ for good."""
    count = min(len(first), len(other))
    is_other = other.series.rank != first.series.rank
    if count < 2 * _LEAST or not is_other or not np.array_equal(first.x[:count], other.x[:count]):
        return None
    differs = np.abs(first.y[:count] - other.y[:count])
    if not np.isfinite(differs).all() or not np.any(differs > 0):
        return None
    at = int(np.argmax(differs > 0))
    later = differs[at:]
    # The order of sums on other devices moves the last digits, and no more.
    is_large = float(np.median(later[-5:])) > 1e-4 * abs(float(first.y[count - 1]))
    if at < _LEAST or len(later) < _LEAST or not is_large or float(np.mean(later > 0)) < 0.9:
        return None
    return at

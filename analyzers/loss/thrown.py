"""A loss that the first steps threw up, and that came back late or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .levels import Shape, begins_at_start

_LEAST = 24
_UP = 2.5
"""Times its first value that the loss reaches at once,"""
_DOWN = 0.7
"""of which it has lost this share since: what scatters about one level was not thrown."""

_MOST_NOISE = 0.5
"""Jitter as a share of the level."""
_STEPS = 100.0
_LONG = 0.3
"""Share of the run for which it stays above its first value."""


def thrown_at_start(view: RunView, curve: Curve, shape: Shape, identity: str) -> Iterator[Finding]:
    """All the work since went into repairing the first steps, and has not repaired them."""
    if len(curve) < _LEAST or view.facts.objective or not begins_at_start(curve):
        return
    if curve.axis_name == "step" and float(curve.x[-1] - curve.x[0]) < _STEPS:
        return  # the first steps of a long run go up and down
    first = float(curve.y[0])
    early = curve.y[1 : 1 + max(3, len(curve) // 20)]
    if not 0 < first < np.inf or not np.isfinite(early).all():
        return
    highest, now = float(np.median(early)), float(np.median(shape.levels[-3:]))
    if curve.noise > _MOST_NOISE * abs(now):
        return  # the first value may be low by chance
    above = shape.levels > first
    back = len(above) if above.all() else int(np.argmin(above[3:])) + 3
    # A climb that takes a while is one, too, if it stays up for long.
    highest = max(highest, float(np.quantile(shape.levels[: max(3, back)], 0.75)))
    if highest < _UP * first or now > _DOWN * highest or back < _LONG * len(above):
        return
    is_lost = back == len(above)
    until = curve.x[-1] if is_lost else shape.starts[back]
    course = "never back where it began" if is_lost else "so long was it above where it began"
    yield Finding(
        id=identity,
        title=f"{curve.name} was {first:.4g}, rose to {highest:.4g} within the first steps and is "
        f"{now if is_lost else first:.4g} at {curve.axis_name} {until:.10g}: {course}",
        severity=Severity.CRITICAL if is_lost else Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(curve.evidence(0, 4), curve.evidence(len(curve) - 1)),
        first_step=curve.step(1),
        details={
            "position": 1,
            "from": first,
            "to": now,
            "worthless": float(is_lost),
            "from_start": 1.0,
        },
    )

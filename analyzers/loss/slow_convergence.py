"""slow_convergence: the training loss falls, but far too slowly to get anywhere.

What it sees: a loss that goes down steadily, as fast at the end as at the beginning, and has won
    less than a fifth of its first value. A healthy loss falls fast first and then ever slower.
Why it matters: the same compute at another step size would be much further.
Fires on:
    train/loss: 2.30>2.10~0.01*600
Stays quiet:
    train/loss: 2.30>1.2~0.02*100 1.2>1.0~0.02*500
    train/loss: 2.30>2.20~0.01*20
Try next: ten times the learning rate for 200 steps; the slope should be five times as steep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .levels import Shape, begins_at_start, shape_of
from .outcomes import is_fine_tuning


@analyzer
@dataclass(frozen=True, slots=True)
class SlowConvergence:
    """Looks for a straight line where a healthy curve bends."""

    id: ClassVar[str] = "slow_convergence"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    least_points: int = 30
    most_gain: float = 0.20
    straight: float = 0.55
    """Share of the first half's fall that the second half must add."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge the primary loss."""
        curve = view.curve("train/loss")
        if (
            curve is None
            or curve.is_interleaved
            or not view.facts.is_monotone
            or len(curve) < self.least_points
        ):
            return
        shape = shape_of(curve)
        if shape is None or not begins_at_start(curve) or is_fine_tuning(view):
            return
        if view.facts.is_cyclic or self._is_warming_up(view, curve):
            return
        if self._is_slow(shape):
            yield self._report(view, curve, shape)

    def _is_warming_up(self, view: RunView, curve: Curve) -> bool:
        warm = view.facts.warmup_until
        return warm is not None and warm > 0.3 * float(curve.x[-1])

    def _is_slow(self, shape: Shape) -> bool:
        levels = shape.levels
        if len(levels) < 8 or not 0.003 < shape.gain < self.most_gain:
            return False
        quarter = max(2, len(levels) // 6)
        start = float(np.median(levels[:quarter]))
        half = len(levels) // 2
        middle = float(np.median(levels[half - quarter // 2 : half + quarter // 2 + 1]))
        end = float(np.median(levels[-quarter:]))
        first, second = start - middle, middle - end
        if first <= 0 or second <= 0:
            return False
        is_real = second > 4 * shape.error and start - end > 6 * shape.error
        falls = float(np.mean(np.diff(levels) < shape.error))
        # The very first values may fall quicker than the first windows show.
        initial = max(0.0, shape.first - start)
        return is_real and falls > 0.75 and second >= self.straight * (first + initial)

    def _report(self, view: RunView, curve: Curve, shape: Shape) -> Finding:
        share = 100 * shape.gain
        return Finding(
            id=self.id,
            title=f"{curve.name} won only {share:.2g} % ({shape.first:.4g} to {shape.last:.4g}) by "
            f"{curve.axis_name} {curve.x[-1]:.10g} and falls as slowly as at the beginning",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.8),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(0, len(curve) - 1), *view.facts.remarks(curve)),
            first_step=curve.step(0),
            details={"gain": shape.gain},
        )

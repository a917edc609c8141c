"""resume_discontinuity: the loss does not go on where it was when the run was resumed.

What it sees: at a place where the run was restarted (the step counter goes back, the file begins
    anew, or the log says so) the loss of the first points after it differs from the last before
    it by more than three robust deviations and more than six percent; three percent are enough
    where the loss rises beyond doubt and the gradient norm jumps at the same place.
Why it matters: something was not restored: optimizer state, learning-rate schedule, data order.
    A loss that falls at the restart without a reason often means that data are seen again.
Fires on:
    train/loss: 2>1~0.02*200 @150 1.9>1.4~0.02*100
    train/loss: 2.2 1.4 0.66 0.44 0.34 0.3 0.28 0.27 @6 0.9 0.54 0.38 0.32 0.28 0.25
Stays quiet:
    train/loss: 2>1~0.02*200 @150 1.25>0.8~0.02*100
    train/loss: 2.2 1.4 0.66 0.44 0.34 0.3 0.28 0.27 @6 0.33 0.29 0.26 0.24 0.25 0.23
Try next: compare what the checkpoint holds (optimizer, scheduler, scaler, sampler, random state)
    with what the code restores; resume twice from one checkpoint and overlay both losses.
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
from .jumps import jump_at
from .resumes import REACH, Boundary, boundaries

ENOUGH = 16
"""Points before a restart whose spread is that of the loss and not that of its descent."""


@analyzer
@dataclass(frozen=True, slots=True)
class ResumeDiscontinuity:
    """Compares both sides of every restart."""

    id: ClassVar[str] = "resume_discontinuity"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ("restart",)
    deviations: float = 4.0
    least_share: float = 0.06
    confirmed_share: float = 0.03
    """The same where the gradient norm says so, too, and the rise is beyond doubt."""
    confirmed_deviations: float = 6.0
    thrown: float = 2.5
    """Times its usual value that a gradient norm reaches where something was not restored."""
    least_of_fall: float = 0.15
    """Share of what was won that a jump takes back among a few points."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge each boundary of the primary loss."""
        curve = view.curve("train/loss")
        if curve is None or curve.is_interleaved or not view.facts.is_monotone:
            return
        for boundary in boundaries(view, curve):
            finding = self._judge(view, curve, boundary)
            if finding is not None:
                yield finding
                return

    def _judge(self, view: RunView, curve: Curve, boundary: Boundary) -> Finding | None:
        before = boundary.before[np.isfinite(boundary.before)]
        after = curve.y[boundary.at : boundary.at + REACH]
        after = after[np.isfinite(after)]
        if len(before) < ENOUGH and not boundary.is_same_steps:
            few = curve.y[: boundary.at + REACH]
            seen = jump_at(few, boundary.at, of_fall=self.least_of_fall)
            if seen is not None:
                return self._report(curve, boundary, seen.before, seen.after)
        if len(before) < 6 or len(after) < 4:
            return None
        few = after[: max(4, min(12, len(after)))]
        # The steep beginning of a short run is no measure for its noise.
        late = before[-16:]
        order = np.arange(len(late))
        line = np.polyfit(order, late, 1)
        trend = np.polyval(line, order)
        spread = 1.4826 * float(np.median(np.abs(late - trend)))
        fair = before[: len(few)] if boundary.is_same_steps else before[-len(few) :]
        expected, now = float(np.median(fair)), float(np.median(few))
        jump = now - expected
        # A few points after it, the jump may be over already.
        worst = float(after[:2].max())
        at_once = worst - expected
        if at_once > max(8 * spread, 0.35 * abs(expected)):
            now, jump = worst, at_once
        limit = max(self.deviations * spread / np.sqrt(len(few)), spread)
        if abs(jump) < max(limit, self.least_share * abs(expected)):
            doubt = max(self.confirmed_deviations * spread / np.sqrt(len(few)), spread)
            is_clear = jump > max(doubt, self.confirmed_share * abs(expected))
            if not is_clear or not self._gradient_jumps(view, curve.step(boundary.at)):
                return None
        if jump < 0:
            needed = max(2 * limit, 0.2 * abs(expected))
            # A loss that was falling goes on to fall.
            ahead = float(np.polyval(line, len(late) - 1 + 0.5 * len(few)))
            falls_on = not boundary.is_same_steps and now > min(ahead, expected) - 0.5 * needed
            if abs(jump) < needed or falls_on:
                return None
        return self._report(curve, boundary, expected, now)

    def _gradient_jumps(self, view: RunView, step: float) -> bool:
        """The gradient norm is at once far above all that it was in the stretch before."""
        norm = view.curve("grad_norm")
        if norm is None or norm.axis_name == "epoch":
            return False
        at = int(np.searchsorted(norm.x, step))
        before, after = norm.y[max(0, at - REACH) : at], norm.y[at : at + 4]
        if len(before) < ENOUGH or len(after) < 2 or not np.isfinite(before).all():
            return False
        usual, most = float(np.median(before)), float(np.max(before))
        return float(np.nanmax(after)) > max(self.thrown * usual, 1.2 * most)

    def _report(self, curve: Curve, boundary: Boundary, expected: float, now: float) -> Finding:
        step = curve.step(boundary.at)
        jump = now - expected
        share = jump / abs(expected) if expected else np.sign(jump)
        way = "up" if jump > 0 else "down"
        return Finding(
            id=self.id,
            title=f"{curve.name} went {way} from {expected:.4g} to {now:.4g} "
            f"({100 * share:+.0f} %) where the run was resumed, at "
            f"{curve.axis_name} {step:.10g}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.88),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(boundary.at, None, f"{expected:.4g} -> {now:.4g}"),
                *boundary.evidence,
            ),
            first_step=step,
            details={"jump": float(share), "position": boundary.at},
        )

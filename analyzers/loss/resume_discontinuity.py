"""resume_discontinuity: the loss does not go on where it was when the run was resumed.

What it sees: at a place where the run was restarted (the step counter goes back, the file begins
    anew, or the log says so) the loss of the first points after it differs from the last before
    it by more than three robust deviations and more than five percent.
Why it matters: something was not restored: optimizer state, learning-rate schedule, data order.
    A loss that falls at the restart without a reason often means that data are seen again.
Fires on:
    train/loss: 2>1~0.02*200 @150 1.9>1.4~0.02*100
Stays quiet:
    train/loss: 2>1~0.02*200 @150 1.25>0.8~0.02*100
Try next: compare what the checkpoint holds (optimizer, scheduler, scaler, sampler, random state)
    with what the code restores; resume twice from one checkpoint and overlay both losses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView

REACH = 32


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place in the loss curve where the run was resumed."""

    at: int
    before: Floats
    is_same_steps: bool
    """The values before are those of the branch that was given up, at the same steps."""
    evidence: tuple[Evidence, ...]


@analyzer
@dataclass(frozen=True, slots=True)
class ResumeDiscontinuity:
    """Compares both sides of every restart."""

    id: ClassVar[str] = "resume_discontinuity"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ("restart",)
    deviations: float = 4.0
    least_share: float = 0.06

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
        if len(before) < 6 or len(after) < 4:
            return None
        few = after[: max(4, min(12, len(after)))]
        trend = np.polyval(np.polyfit(np.arange(len(before)), before, 1), np.arange(len(before)))
        spread = 1.4826 * float(np.median(np.abs(before - trend)))
        fair = before[: len(few)] if boundary.is_same_steps else before[-len(few) :]
        expected, now = float(np.median(fair)), float(np.median(few))
        jump = now - expected
        limit = max(self.deviations * spread / np.sqrt(len(few)), spread)
        if abs(jump) < max(limit, self.least_share * abs(expected)):
            return None
        if jump < 0 and abs(jump) < max(2 * limit, 0.12 * abs(expected)):
            return None
        step = curve.step(boundary.at)
        way = "up" if jump > 0 else "down"
        return Finding(
            id=self.id,
            title=f"{curve.name} went {way} from {expected:.4g} to {now:.4g} "
            f"({100 * jump / abs(expected):+.0f} %) where the run was resumed, at "
            f"{curve.axis_name} {step:.10g}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.88),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(boundary.at, None, f"{expected:.4g} -> {now:.4g}"),
                *boundary.evidence,
            ),
            first_step=step,
            details={"jump": jump / abs(expected) if expected else 0.0, "position": boundary.at},
        )


def boundaries(view: RunView, curve: Curve) -> list[Boundary]:
    """Where the newest branch was resumed, by its counter, its file or its log."""
    found: dict[int, Boundary] = {}
    for restart in curve.restarts:
        if restart.at < 6:
            continue
        # What the old branch did at the same steps is the fairest comparison.
        overlaps = len(restart.before) >= 6
        old = restart.before[:REACH] if overlaps else curve.y[: restart.at][-REACH:]
        said = curve.remark(
            f"the counter went back from {restart.reached:.10g} to {restart.resumed:.10g}"
        )
        found[restart.at] = Boundary(restart.at, old, overlaps, (said,))
    for placed in view.events_of(EventKind.RESTART):
        if placed.source is not view.run.files[curve.series.file]:
            continue
        lines = curve.series.lines
        raw = int(np.searchsorted(lines, placed.event.line))
        position = raw - (len(lines) - len(curve))
        if not 6 <= position < len(curve) - 3 or any(abs(position - at) <= 2 for at in found):
            continue
        before = curve.y[:position][-REACH:]
        found[position] = Boundary(position, before, False, (placed.evidence(),))
    return [found[at] for at in sorted(found)]

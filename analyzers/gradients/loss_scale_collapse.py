"""loss_scale_collapse: the loss scale of a half-precision run falls and falls.

What it sees: a loss scale that is halved at least three times within twenty records, or that ends
    at its floor of 1 or below; OVERFLOW lines that announce the same; the message that the scale
    is already at its minimum. A series that is only called `scale` is one if it starts high and
    holds nothing but powers of two. The first overflows of a run are the scaler finding its level.
Why it matters: every halving is a skipped step; at the floor no step is made any more, and the
    gradients are not finite at any scale.
Fires on:
    loss_scale: 65536*100 32768 16384 8192 2048 512 64 8 2 1 0.5 ; train/loss: 2>1~0.02*110
    scale: 65536*100 32768 16384 8192 2048 512 64 8 2 1 0.5 ; train/loss: 2>1~0.02*110
    log: Exception: Current loss scale already at minimum - cannot decrease scale anymore.
    log: Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8.691694759794e-311
Stays quiet:
    loss_scale: 65536 32768 16384 8192 4096*200 ; train/loss: 2>1~0.02*204
    loss_scale: 4294967296 1073741824 67108864 16777216 65536*200 ; train/loss: 2>1~0.02*204
    loss_scale: 65536*100 32768*100 65536*100 32768*50 ; train/loss: 2>1~0.02*350
    scale: 640*100 320 160 80 40 20 10 5 2 1 ; train/loss: 2>1~0.02*109
    log: [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768
    log: | WARNING: overflow detected, setting loss scale to: 1.0
Try next: bfloat16 instead of float16; if the loss jumped before the scale fell, go back to the
    checkpoint before and lower the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.calibration import finding_confidence
from ..core.failure import failure_evidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .calm import calmly
from .scales import Fall, fall_in_messages, fall_of_series, minimum_message, scale_series


@analyzer
@dataclass(frozen=True, slots=True)
class LossScaleCollapse:
    """Report the collapse once, from where it began."""

    id: ClassVar[str] = "loss_scale_collapse"
    roles: ClassVar[tuple[str, ...]] = ("loss_scale",)
    events: ClassVar[tuple[str, ...]] = ("overflow", "exception")

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """The series, else the announcements; the last message on top."""
        curve = scale_series(view)
        fall = None if curve is None else fall_of_series(curve)
        if fall is None:
            fall = fall_in_messages(view)
        last = minimum_message(view)
        if fall is None and last is None:
            return
        evidence = (*(fall.evidence if fall else ()), *([failure_evidence(last)] if last else []))
        has_ended = last is not None and id(last.event) not in view.facts.recovered
        is_dead = has_ended or (fall is not None and fall.is_at_floor and fall.goes_on)
        severity = Severity.CRITICAL if is_dead else Severity.WARNING
        if fall is not None and not is_dead and not fall.goes_on and not fall.is_at_floor:
            severity = Severity.INFO
        first = fall.first_step if fall else (last.event.step if last else None)
        yield Finding(
            id=self.id,
            title=_title(fall, last.event.title if last else ""),
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95 if is_dead else 0.85),
            basis=Basis.OBSERVATION,
            evidence=evidence,
            first_step=first,
            details={
                "halvings": float(fall.halvings) if fall else 0.0,
                "after": fall.after if fall else 0.0,
                "floor": float(is_dead),
            },
        )


def _title(fall: Fall | None, said: str) -> str:
    if fall is None:
        return f"the loss scale is at its minimum: {said[:120]}"
    end = ", its floor" if fall.is_at_floor else ""
    where = f" from step {fall.first_step:.10g} on" if fall.first_step is not None else ""
    # Printed without decimals a scale ends at 0, and then nobody knows how often it was halved.
    times = f", {fall.halvings} halvings" if fall.halvings else ""
    return f"the loss scale fell from {fall.before:.6g} to {fall.after:.4g}{end}{times}{where}"

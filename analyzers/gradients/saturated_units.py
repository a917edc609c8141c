"""saturated_units: most outputs of a tanh or sigmoid lie where its slope is almost zero.

What it sees: a probe's share of outputs beyond the slope (inputs beyond -5 and 5) that stays at 0.5
    or above in a layer inside the model: information while the loss falls all the same, a warning
    if it does not. A last layer that is sure of its answers is not meant.
Why it matters: a saturated unit passes hardly any gradient on, so the layers before it and its own
    weights stay as they are.
Fires on:
    probe act_saturated/act2: 0.96~0.01*20 ; probe act_mean/head: 0*20 ; train/loss: 2.3~0.01*100
Stays quiet:
    probe act_saturated/act2: 0.1~0.01*20 ; probe act_mean/head: 0*20 ; train/loss: 2.3~0.01*100
    probe act_saturated/gate: 0.97*20 ; probe act_mean/gate: 0.9*20 ; train/loss: 2.3>0.1~0.01*100
Try next: smaller initial weights, normalised inputs, a normalisation layer before it; ReLU or GELU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .calm import calmly
from .learning import Learning, learning
from .recorded_units import UnitShare, recorded_shares


@analyzer
@dataclass(frozen=True, slots=True)
class SaturatedUnits:
    """Name the first layer that is saturated."""

    id: ClassVar[str] = "saturated_units"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    least_share: float = 0.5
    """Healthy layers stay below a tenth."""
    extreme_share: float = 0.9

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge what a probe recorded by what the loss did."""
        now = learning(view)
        found = [s for s in recorded_shares(view, "act_saturated", self.least_share)
                 if not s.is_last]  # fmt: skip
        if not found:
            return
        worst = next((share for share in found if share.level >= self.extreme_share), found[0])
        curve = worst.curve
        more = f", {len(found) - 1} more like it" if len(found) > 1 else ""
        falls = f"; {now.curve.name} falls all the same" if now and now.is_better else ""
        yield Finding(
            id=self.id,
            title=f"{worst.level:.0%} of the outputs of layer {worst.layer} are saturated since "
            f"{curve.axis_name} {curve.step(worst.first):.10g}{more}{falls}",
            severity=self._severity(worst, now),
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(worst.first, len(curve) - 1),
                *([now.curve.evidence(0, len(now.curve) - 1)] if now else []),
            ),
            first_step=curve.step(worst.first),
            details={
                "share": worst.level,
                "layer": worst.layer,
                "after": float(worst.first),
            },
        )

    def _severity(self, worst: UnitShare, now: Learning | None) -> Severity:
        is_stuck = now is None or not now.is_better
        is_bad = worst.level >= self.extreme_share or (now is not None and now.is_flat)
        return Severity.WARNING if is_stuck and is_bad else Severity.INFO

"""precision_underflow: gradients are too small for half precision and become zero.

What it is: float16 ends at 6e-8 below; gradients under it are rounded to 0 unless a loss scale
    lifts them, so most weights get no update.
Told apart by: exact zeros all over the network in a float16 run, a loss scale that climbs without
    end, zeros that vanish in a float32 replay. Dead units have zeros behind ReLU layers only;
    vanishing gradients are small but not zero, and smallest in the first layers.
Try next: bfloat16, or a (larger) loss scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..gradients.calm import calmly
from ..gradients.stated import brain_precision, half_precision

_HIGH = 2.0**20
"""A loss scale that no overflow ever stopped from growing."""


@cause
@dataclass(frozen=True, slots=True)
class PrecisionUnderflow:
    """Weighs zeros and formats."""

    id: ClassVar[str] = "precision_underflow"
    explains: ClassVar[tuple[str, ...]] = (
        "dead_units",
        "vanishing_gradients",
        "frozen_layers",
        "not_learning",
        "plateau",
        "slow_convergence",
        "underfitting",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """Zeros in a format that makes them."""
        zeros = case.get("dead_units")
        is_everywhere = zeros is not None and zeros.details.get("kind") == "zero_gradients"
        half = half_precision(case)
        scale = case.view.curve("loss_scale")
        if zeros is not None and is_everywhere:
            yield case.because(zeros, 0.4)
        elif zeros is not None:
            yield case.because(zeros, -0.5)
        if half is not None:
            yield Clue(0.35 if zeros is not None or case.has("vanishing_gradients") else 0.2, half)
            if scale is None:
                yield Clue(0.15, half)
        if scale is not None and len(scale) and float(scale.y[-1]) >= _HIGH:
            yield Clue(0.4, scale.evidence(len(scale) - 1))
        brain = brain_precision(case)
        if brain is not None:
            yield Clue(-0.7, brain)
        layers = case.get("vanishing_gradients")
        if layers is not None and layers.number("layers"):
            yield case.because(layers, -0.4)
        if half is None and case.setting("precision") is not None:
            setting = case.setting("precision")
            if setting is not None and any(w in setting.text for w in ("32", "full", "no")):
                yield Clue(-0.8, setting.evidence)
        if case.has("loss_scale_collapse"):
            yield case.because(case.all("loss_scale_collapse")[0], -0.7)

    def issue(self, case: Case) -> str:
        """One sentence with the share of zeros."""
        zeros = case.get("dead_units")
        share = f"{zeros.number('share'):.0%} of them are exactly 0" if zeros else "they become 0"
        return f"gradients are too small for half precision: {share}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Lift the gradients into the range, or widen it."""
        setting = case.setting("loss_scale")
        name = setting.path if setting is not None else "loss scale"
        was = f" {setting.value}" if setting is not None else ""
        yield Fix(
            addresses=self.id,
            change="compute in bf16, which reaches as low as float32",
            example="torch.autocast('cuda', dtype=torch.bfloat16)  # no GradScaler needed",
            expected_impact="share of zero gradients below 0.5 and train loss falling within 200 "
            "steps",
            verify="compare the share of exact zeros over 20 steps before and after",
            if_it_fails="replay 20 steps in float32: zeros that stay there are dead units",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change=f"{name}{was} -> dynamic, beginning at 65536",
            example="scaler = torch.amp.GradScaler('cuda', init_scale=65536.0)",
            expected_impact="grad_norm (unscaled) rises to its float32 value within 10 steps",
            verify="scale the loss, unscale before clipping: the norm matches a float32 replay",
            if_it_fails="check that the loss is not divided by batch or data-set size twice",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="take the mean over the batch once, not over the data set",
            example="loss = criterion(logits, y)  # reduction='mean', no further division",
            expected_impact="grad_norm grows by the factor that was divided away; train loss falls "
            "within 200 steps",
            verify="print loss.item() beside the logged loss",
            if_it_fails="keep float32 master weights and optimizer state",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from dead units."""
        yield (
            "the share of exact zeros in the gradients over 20 steps in float32: zeros that vanish "
            "mean underflow, zeros that stay mean dead units or frozen parameters"
        )

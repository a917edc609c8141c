"""precision_overflow: values exceed what half precision can hold.

What it is: float16 ends at 65504; activations or gradients beyond it become infinite, the loss
    scaler halves its scale and skips the step, until nothing is left to halve.
Told apart by: the loss scale falling before the loss moves, OVERFLOW lines, float16 in the config.
    If the loss jumped first, the overflow is an effect; if gradients are NaN at every scale, an
    operation may be singular.
Try next: bfloat16; float32 for the layers that overflow; a lower learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import loss_growth_before
from ..core.finding import Basis
from ..core.fixes import lower_learning_rate
from ..core.registry import cause
from ..gradients.calm import calmly
from ..gradients.scales import minimum_message
from ..gradients.stated import brain_precision, half_precision


@cause
@dataclass(frozen=True, slots=True)
class PrecisionOverflow:
    """Weighs the loss scale and what came first."""

    id: ClassVar[str] = "precision_overflow"
    explains: ClassVar[tuple[str, ...]] = (
        "loss_scale_collapse",
        "nan_loss",
        "nan_gradients",
        "nan_weights",
        "loss_spike",
        "loss_divergence",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """The scale, the lines, the format; against: who came first."""
        fall = case.get("loss_scale_collapse")
        is_alarm = fall is not None and fall.is_alarm
        if fall is not None:
            yield case.because(fall, (0.8 if fall.number("floor") else 0.6) if is_alarm else 0.25)
        said = minimum_message(case.view)
        if said is not None:
            yield case.clue(0.7, said.evidence(), states=True)
        lines = case.view.events_of(EventKind.OVERFLOW)
        if len(lines) >= 3 and (is_alarm or case.has("nan_gradients", "nan_loss")):
            yield Clue(0.4, lines[0].evidence())
        half = half_precision(case)
        scale = case.view.curve("loss_scale")
        if half is not None:
            yield Clue(0.5, half)
        elif scale is not None and len(scale) and float(scale.y[0]) > 8:
            yield Clue(0.15, scale.evidence(0, None, f"a loss scale of {scale.y[0]:g}"))
        yield from self._order(case, is_alarm=is_alarm)

    def _order(self, case: Case, *, is_alarm: bool) -> Iterator[Clue]:
        brain = brain_precision(case)
        if brain is not None:
            yield Clue(-0.85, brain)
        fall = case.get("loss_scale_collapse")
        jumps = case.all("loss_spike", "loss_divergence", "exploding_gradients")
        jumps = [jump for jump in jumps if jump.is_alarm]
        first = fall.first_step if fall is not None else None
        if first is not None and jumps and (jumps[0].first_step or 0.0) < first:
            yield case.because(jumps[0], -0.5)
        rising = loss_growth_before(case, first)
        if rising is not None and rising.value > 6:
            yield Clue(-0.3, rising.evidence)
        elif rising is not None and rising.value < 4 and is_alarm and not jumps:
            yield Clue(0.4, rising.evidence)
        scale = case.view.curve("loss_scale")
        broken = case.get("nan_loss", "nan_gradients")
        if not is_alarm and broken is not None and scale is not None and len(scale) >= 8:
            yield Clue(-0.5, scale.remark("the loss scale did not fall"))

    def issue(self, case: Case) -> str:
        """One sentence with the scale."""
        fall = case.get("loss_scale_collapse")
        if fall is not None and fall.first_step is not None:
            halvings = fall.number("halvings")
            times = f" after {halvings:.0f} halvings" if halvings else ""
            return (
                f"float16 overflows from step {fall.first_step:.10g} on: the loss scale is down to "
                f"{fall.number('after'):.4g}{times}"
            )
        return "values exceed the range of float16, so gradients are infinite"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Another format, wider layers, smaller steps."""
        setting = case.setting("precision")
        name = setting.path if setting is not None else "precision"
        was = f" {setting.value}" if setting is not None else ""
        yield Fix(
            addresses=self.id,
            change=f"{name}{was} -> bf16 (the range of float32)",
            example=f"{name}: bf16  # torch.autocast('cuda', dtype=torch.bfloat16), no loss scaler",
            expected_impact="no skipped steps any more; train loss continues at its level before "
            "the collapse within 50 steps",
            verify="500 steps from the last good checkpoint: grad_norm finite at every step",
            if_it_fails="run 100 steps in float32; if they fail too, it is no matter of precision",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="compute the layers that overflow (softmax, norms, logits, loss) in float32",
            example="with torch.autocast('cuda', enabled=False): loss = loss_fn(logits.float(), y)",
            expected_impact="largest activation below 65504; the loss scale holds for 2,000 steps",
            verify="log the largest absolute activation per layer for 20 steps around the collapse",
            if_it_fails="normalise inputs or add LayerNorm before the layer whose values grow",
            is_quick=True,
        )
        yield lower_learning_rate(case, self.id, 2.0)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a singular operation."""
        if case.view.curve("loss_scale") is None:
            yield (
                "the loss scale per step: falling before the loss moves means overflow, after it "
                "means that the weights were damaged first"
            )
        if half_precision(case) is None and brain_precision(case) is None:
            yield "the precision of the run (fp16, bf16 or fp32): only float16 overflows at 65504"
        yield (
            "20 steps replayed in float32 from the last checkpoint before the fall: finite means "
            "overflow, NaN again means a singular operation or bad data"
        )

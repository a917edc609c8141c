"""curriculum_transition: the run is fed something else from one step on and did not bear it.

What it is: a new stage (longer sequences, harder data, another mixture) meets a learning rate and
    an optimizer state that were right for the old one.
Told apart by: a logged change of stage, sequence length, batch or mixture right before the loss
    and the gradient rise; the run was healthy until then.
Try next: halve the rate at the transition; blend the stages over some hundred steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import gradient_at, gradient_growth_before
from ..core.finding import Basis
from ..core.fixes import clip_gradients, lower_learning_rate
from ..core.registry import cause

_BREAKS = (
    "loss_divergence",
    "loss_spike",
    "exploding_gradients",
    "nan_loss",
    "loss_scale_collapse",
)


@cause
@dataclass(frozen=True, slots=True)
class CurriculumTransition:
    """Weighs a planned change against the moment of the trouble."""

    id: ClassVar[str] = "curriculum_transition"
    explains: ClassVar[tuple[str, ...]] = (
        "loss_divergence",
        "loss_spike",
        "exploding_gradients",
        "nan_loss",
        "loss_scale_collapse",
        "forgetting",
        "nan_gradients",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A change just before the trouble, in a run that was fine until then."""
        step = case.onset(*_BREAKS)
        broken = case.get(*_BREAKS)
        if step is None or broken is None:
            return
        loss = case.view.curve("train/loss")
        span = float(loss.x[-1] - loss.x[0]) if loss is not None and len(loss) > 1 else 0.0
        reach = max(6 * loss.spacing, 0.03 * span) if loss is not None else 5.0
        change = case.view.facts.change_near(step, reach, reach / 3)
        if change is None:
            return
        yield Clue(0.6, change.evidence, "stage")
        yield case.because(broken, 0.3)
        sudden = gradient_at(case, change.step)
        if sudden is not None and sudden.value > 3:
            yield Clue(0.35, sudden.evidence)
        grown = gradient_growth_before(case, change.step)
        if grown is not None and grown.value > 2.5:
            yield Clue(-0.4, grown.evidence)
        lost = case.get("forgetting")
        if lost is not None and lost.is_alarm and not broken.is_alarm:
            # The training bore it, and is as good as ever: only what it knew before is lost.
            yield case.because(lost, -0.4)
        if (setting := case.setting("curriculum")) is not None:
            yield Clue(0.3, setting.evidence)

    def issue(self, case: Case) -> str:
        """One sentence with the change."""
        step = case.onset(*_BREAKS)
        change = None
        if step is not None:
            change = case.view.facts.change_near(step, float("inf"), 10.0)
        what = f" ({change.what} at step {change.step:.10g})" if change is not None else ""
        return f"the training did not bear the change of what it is fed{what}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Lower at the transition, blend, clip."""
        yield lower_learning_rate(case, self.id, factor=2.0)
        yield Fix(
            addresses=self.id,
            change="blend the stages: raise the share of the new stage from 0 to 1 over 500 steps",
            example="p_new = min(1.0, (step - start) / 500)",
            expected_impact="the gradient norm stays below three times its median through the "
            "transition; the loss bends instead of jumping",
            verify="log loss per stage around the transition",
            if_it_fails="re-warm the learning rate from a tenth over the same 500 steps",
        )
        yield clip_gradients(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from the learning rate alone."""
        yield (
            "loss per data source or stage around the transition: if only the new stage is high "
            "and falls, the change is benign; if the old one rises too, the weights are damaged"
        )

"""stale_optimizer_state: the optimizer or its helpers were not restored when the run was resumed.

What it is: weights come from the checkpoint, but moments, step count, scaler or schedule begin at
    0, so the first updates are far too large or the rate is another one.
Told apart by: the loss jumps up exactly at a restart and comes back slowly; the rate or the
    gradient shows a transient there. A jump down is data seen again; no jump is a good resume.
Try next: save and load the optimizer's state with the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import gradient_at, restart_near
from ..core.finding import Basis
from ..core.fixes import lower_learning_rate
from ..core.registry import cause
from ..core.reloading import begins_anew


@cause
@dataclass(frozen=True, slots=True)
class StaleOptimizerState:
    """Weighs a jump of the loss at a restart."""

    id: ClassVar[str] = "stale_optimizer_state"
    explains: ClassVar[tuple[str, ...]] = (
        "resume_discontinuity",
        "loss_spike",
        "loss_divergence",
        "lr_anomaly",
        "exploding_gradients",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A jump upwards at a boundary, transients of rate and gradient."""
        found = case.get("resume_discontinuity")
        if found is None:
            step = case.onset("loss_spike", "loss_divergence", "exploding_gradients")
            boundary = restart_near(case, step)
            if boundary is not None:
                yield Clue(0.5, boundary, "restart")
            return
        up = found.number("jump") > 0
        yield Clue(0.6 if up else 0.1, found.evidence[-1], "restart")
        if up:
            yield case.because(found, 0.4)
        else:
            yield case.because(found, -0.5)
        anew = begins_anew(case)
        if anew is not None:
            # The weights are those of the start as well.
            yield Clue(-0.4, anew)
        sudden = gradient_at(case, found.first_step)
        if sudden is not None and sudden.value > 2:
            yield Clue(0.3, sudden.evidence)
        for placed in case.view.events_of(EventKind.WARNING, EventKind.RESTART):
            words = placed.text.casefold()
            if "optimizer" in words and any(
                w in words for w in ("not", "without", "missing", "skip")
            ):
                yield Clue(0.5, placed.evidence())
                break

    def issue(self, case: Case) -> str:
        """One sentence with the place."""
        found = case.get("resume_discontinuity")
        where = (
            f" at step {found.first_step:.10g}" if found and found.first_step is not None else ""
        )
        return f"the optimizer's state was not restored when the run was resumed{where}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Save all state, re-warm, test the resume."""
        yield Fix(
            addresses=self.id,
            change="save and restore optimizer, scheduler, scaler, sampler and random state",
            example="torch.save({'model': m.state_dict(), 'optimizer': o.state_dict(), "
            "'scheduler': s.state_dict(), 'scaler': a.state_dict(), 'step': step}, path)",
            expected_impact="the loss goes on within two deviations of its last values",
            verify="stop and resume once on purpose: both curves overlay",
            if_it_fails="compare optimizer.state_dict()['state'] before and after: step counts > 0",
        )
        yield Fix(
            addresses=self.id,
            change="where the state is lost already: re-warm the rate over 500 steps after "
            "resuming",
            example="LinearLR(optimizer, start_factor=0.05, total_iters=500)",
            expected_impact="the loss rises less than 5 % after the restart and is back in 500 "
            "steps",
            verify="compare with the jump of this resume",
            if_it_fails="resume from an older checkpoint that holds the optimizer",
            is_quick=True,
        )
        yield lower_learning_rate(case, self.id, factor=2.0)

    def requests(self, case: Case) -> Iterator[str]:
        """What shows it."""
        yield (
            "the keys of the checkpoint file: is there an optimizer state in it, and is it loaded?"
        )

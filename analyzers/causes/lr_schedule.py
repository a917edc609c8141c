"""lr_schedule: the learning-rate schedule does not do what was meant.

What it is: the rate jumps, dies early, restarts or never warms up, because the scheduler is stepped
    in the wrong unit, built for another length, or not restored.
Told apart by: the rate itself: an anomaly in it right before the loss reacts.
Try next: plot lr against progress; step the scheduler once per optimizer step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.fixes import lower_learning_rate
from ..core.registry import cause
from ..core.reloading import loaded_in_part


@cause
@dataclass(frozen=True, slots=True)
class LearningRateSchedule:
    """Weighs an anomaly of the rate against the moment of the trouble."""

    id: ClassVar[str] = "lr_schedule"
    explains: ClassVar[tuple[str, ...]] = (
        "lr_anomaly",
        "loss_divergence",
        "loss_spike",
        "plateau",
        "slow_convergence",
        "nan_loss",
        "exploding_gradients",
        "resume_discontinuity",
        "not_learning",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """An anomaly of the rate, and trouble right after it."""
        odd = case.get("lr_anomaly")
        if odd is not None:
            yield Clue(0.65, odd.evidence[0], "schedule")
            for more in odd.evidence[1:]:
                yield Clue(0.2, more)
            step = case.onset("loss_divergence", "loss_spike", "nan_loss", "exploding_gradients")
            loss = case.view.curve("train/loss")
            reach = 12 * loss.spacing if loss is not None else 12.0
            if odd.first_step is not None and step is not None:
                follows = -reach / 4 <= step - odd.first_step <= max(reach, 0.05 * step)
                # What creeps up does its harm when it has become too much.
                follows |= odd.details.get("kind") == "creeping" and step > odd.first_step
                worst = case.get("loss_divergence", "loss_spike", "nan_loss", "exploding_gradients")
                if follows and worst is not None:
                    yield case.because(worst, 0.6)
            planned = case.setting("scheduler")
            if odd.details.get("kind") == "jump" and planned is not None and _falls(planned.text):
                yield Clue(0.3, planned.evidence)
            flat = case.get("plateau", "slow_convergence", "not_learning")
            if flat is not None and odd.details.get("kind") in ("early_end", "warming"):
                yield case.because(flat, 0.6)
        yield from self._restarted(case)
        partly = loaded_in_part(case)
        if partly is not None:
            # Random weights are reason enough for the loss, whatever the rate does.
            yield Clue(-0.5, partly.evidence(partly.text))
        for placed in case.view.events:
            if "lr_scheduler.step()" in placed.text and odd is not None:
                yield Clue(0.2, placed.evidence())
                break

    def _restarted(self, case: Case) -> Iterator[Clue]:
        """The rate begins its warm-up again where the run was resumed."""
        resumed = case.get("resume_discontinuity")
        curve = case.view.curve("lr")
        if resumed is None or curve is None or resumed.first_step is None or len(curve) < 8:
            return
        at = int(np.searchsorted(curve.x, resumed.first_step))
        before, after = curve.y[max(0, at - 3) : at], curve.y[at : at + 3]
        if len(before) and len(after):
            ratio = float(np.median(after)) / max(float(np.median(before)), 1e-30)
            if not 0.67 < ratio < 1.5:
                yield Clue(0.6, curve.evidence(max(0, at - 1), at), "schedule")

    def issue(self, case: Case) -> str:
        """One sentence with what the rate did."""
        odd = case.get("lr_anomaly")
        return (
            f"the learning-rate schedule is wrong: {odd.title}"
            if odd
            else ("the learning-rate schedule was not restored when the run was resumed")
        )

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Repair the schedule, restore it, watch it."""
        planned = case.view.planned_steps
        total = f"{planned:.0f}" if planned else "the optimizer steps of the whole run"
        odd = case.get("lr_anomaly")
        jumped = odd is not None and odd.details.get("kind") == "jump"
        yield Fix(
            addresses=self.id,
            change="remove the jump: one schedule over the whole run"
            if jumped
            else f"build the schedule for {total}, and step it once per optimizer step",
            example=f"scheduler = CosineAnnealingLR(optimizer, T_max={planned or 10_000:.0f})",
            expected_impact="the rate follows the planned curve; the loss falls on from the level "
            "before the anomaly within 200 steps",
            verify="plot lr / peak against step / total: one rise, one fall, 0 only at the end",
            if_it_fails="set a constant rate at a third of the peak to rule the schedule out",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="save and restore the scheduler's state with the checkpoint",
            example="state['scheduler'] = scheduler.state_dict(); scheduler.load_state_dict(...)",
            expected_impact="the first rate after a resume equals the last one before it",
            verify="resume once and compare the two logged rates",
            if_it_fails="set last_epoch explicitly when the scheduler is built",
            is_quick=True,
        )
        yield lower_learning_rate(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What shows the schedule."""
        yield "the scheduler's settings (type, total steps, warm-up, per step or per epoch)"


def _falls(schedule: str) -> bool:
    """A schedule by whose name the rate only falls once it has warmed up."""
    falling = ("cosine", "linear", "poly", "exp", "step", "decay", "inverse", "constant")
    returning = ("restart", "cycl", "one")
    return any(word in schedule for word in falling) and not any(w in schedule for w in returning)

"""sequential_training: data come in blocks: task after task, class after class, or in sorted order.

What it is: the model always follows the newest block and forgets the others, or the loss swings
    with the order of the data.
Told apart by: a period equal to an epoch or a block, with an even learning rate; old tasks that
    get worse when a new one begins.
Try next: shuffle; mix old data back in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import is_slow_swing
from ..core.finding import Basis
from ..core.fixes import lower_learning_rate
from ..core.registry import cause
from ..loss.easier import only_fell
from ..loss.lost_reward import BY_REWARD
from ..loss.ordered import same_blocks


@cause
@dataclass(frozen=True, slots=True)
class SequentialTraining:
    """Weighs periods and lost tasks."""

    id: ClassVar[str] = "sequential_training"
    explains: ClassVar[tuple[str, ...]] = (
        "forgetting",
        "oscillating_loss",
        "loss_spike",
        "not_learning",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A lost task, or a period of an epoch."""
        lost = case.get("forgetting")
        if lost is not None and not lost.number(BY_REWARD):
            # Of the validation set as a whole it is one explanation among several.
            yield case.because(lost, 0.7 if lost.number("of_a_task") else 0.45)
            change = case.view.facts.change_near(
                lost.first_step or 0.0, 0.2 * (lost.first_step or 0)
            )
            if change is not None:
                yield Clue(0.4, change.evidence, "stage")
            loss = case.view.curve("train/loss")
            if loss is not None:
                yield Clue(0.15, loss.evidence(len(loss) - 1), "training")
            known = only_fell(case.view, lost.first_step)
            if known is not None and change is None and not lost.number("of_a_task"):
                # A new task costs more at first; this training only got easier.
                yield Clue(-0.6, known)
        swing = case.get("oscillating_loss")
        if swing is not None:
            yield case.because(swing, 0.6 if is_slow_swing(case, swing) else 0.35)
            epoch = self._steps_per_epoch(case)
            period = swing.number("period")
            if epoch and any(abs(period * k - epoch) < 0.06 * epoch for k in (1, 2, 3, 5, 10)):
                yield Clue(0.6, swing.evidence[0], "epoch")
        blocks = same_blocks(case.view)
        if blocks is not None and case.has("not_learning"):
            # Each block undoes what the one before taught, in every epoch anew.
            yield Clue(0.75, blocks)
            yield case.because(case.all("not_learning")[0], 0.2)
        shuffle = case.setting("shuffle")
        if shuffle is not None and shuffle.text in ("false", "0", "no"):
            yield Clue(0.7, shuffle.evidence)
        elif shuffle is not None:
            yield Clue(-0.3, shuffle.evidence)

    def _steps_per_epoch(self, case: Case) -> float | None:
        loss = case.view.curve("train/loss")
        if loss is None or loss.axis_name != "step":
            return None
        epochs = loss.series.axis("epoch")[-len(loss) :]
        known = np.isfinite(epochs)
        if known.sum() < 8:
            return None
        span = float(np.ptp(epochs[known]))
        return float(np.ptp(loss.x[known])) / span if span >= 2 else None

    def issue(self, case: Case) -> str:
        """One sentence."""
        if case.has("forgetting"):
            return (
                "tasks or domains are trained one after the other, so the newest overwrites the old"
            )
        return "training data come in a fixed or sorted order: the loss follows the order"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Shuffle, replay, slow down."""
        yield Fix(
            addresses=self.id,
            change="shuffle the training data every epoch, over all tasks and classes",
            example="DataLoader(train_set, shuffle=True)",
            expected_impact="the periodic part of the loss disappears within one epoch",
            verify="autocorrelation of the loss at the old period below 0.2",
            if_it_fails="enlarge the shuffle buffer of a streaming dataset",
        )
        yield Fix(
            addresses=self.id,
            change="replay 10-20 % of old data in every batch of a new task",
            example="batch = cat([new[: int(0.85 * n)], old_buffer.sample(int(0.15 * n))])",
            expected_impact="old-task accuracy stays within 5 points of its best",
            verify="log accuracy per task at each evaluation",
            if_it_fails="regularise towards the old weights (EWC), or train adapters per task",
        )
        yield lower_learning_rate(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What shows the order."""
        yield "how the data are ordered (shuffle setting, sampler) and a metric per task or class"

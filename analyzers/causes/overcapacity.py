"""overcapacity: the model is large enough to learn its training set by heart.

What it is: too much capacity or too many epochs for the amount of data, with too little to hold
    back.
Told apart by: validation rises only after a minimum (a gap from the first evaluation on is a
    pipeline or a mode, and so is a minimum above what the first epoch's new samples cost); no
    restart at the onset.
Try next: stop at the minimum; augment; regularise; shrink, in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import early_gap, jump_of_training_near, restart_near
from ..core.finding import Basis
from ..core.registry import cause
from ..loss.easier import faster_since_resume, only_fell
from ..loss.first_pass import never_as_good_as_first_epoch
from ..loss.levels import first_level
from ..loss.memorised import memorises

ABSURD = 4.0
"""Times the first training loss that validation does not reach by memorising alone."""


@cause
@dataclass(frozen=True, slots=True)
class Overcapacity:
    """Weighs a gap that grows after a minimum."""

    id: ClassVar[str] = "overcapacity"
    explains: ClassVar[tuple[str, ...]] = ("overfitting",)
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A minimum of validation, then a growing gap, and settings that invite it."""
        found = case.get("overfitting")
        if found is None:
            return
        yield case.because(found, 0.8)
        train = case.view.curve("train/loss")
        if train is not None and len(found.evidence) > 1:
            yield Clue(0.45, found.evidence[1], "training")
        # What is learned by heart before the first evaluation leaves a gap there, too.
        gap = None if memorises(case.view) else early_gap(case)
        if gap is not None and gap.value > 2.0:
            yield Clue(-0.5, gap.evidence)
        if found.number("guessed"):
            # A large model, too, foretells something before it learns the rest by heart.
            yield case.because(found, -0.4)
        for odd in case.all("suspicious_metric"):
            is_absurd = train is not None and found.number("now") > ABSURD * first_level(train)
            if odd.details.get("kind") == "validation" and is_absurd:
                # It never did well on validation, and is wrong there as no memory makes it.
                yield case.because(odd, -0.5)
        worse = never_as_good_as_first_epoch(case.view)
        if worse is not None:
            yield Clue(-0.6, worse)
        jump = jump_of_training_near(case, found.first_step)
        if jump is not None:
            yield Clue(-0.6, jump)
        decay = case.setting("weight_decay")
        if decay is not None and decay.number == 0:
            yield Clue(0.3, decay.evidence)
        dropout = case.setting("dropout")
        if dropout is not None and dropout.number == 0:
            yield Clue(0.3, dropout.evidence)
        samples = case.setting("samples")
        if samples is not None and samples.number is not None and samples.number < 5000:
            yield Clue(0.4, samples.evidence)
        lost = case.get("forgetting")
        if lost is not None and only_fell(case.view, lost.first_step) is None:
            yield case.because(lost, -0.6)
        boundary = restart_near(case, found.first_step)
        faster = faster_since_resume(case.view, found.first_step)
        if boundary is not None:
            yield Clue(-0.5, boundary)
        elif faster is not None:
            yield Clue(-0.4, faster[0])

    def issue(self, case: Case) -> str:
        """One sentence with the step."""
        found = case.get("overfitting")
        since = (
            f" since step {found.first_step:.10g}" if found and found.first_step is not None else ""
        )
        return f"the model memorises its training set{since}: too much capacity for the data"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Stop, augment, regularise, shrink."""
        found = case.get("overfitting")
        step = (
            f"{found.first_step:.10g}" if found and found.first_step is not None else "the minimum"
        )
        decay, dropout = case.setting("weight_decay"), case.setting("dropout")
        yield Fix(
            addresses=self.id,
            change=f"use the checkpoint nearest to step {step}, and stop early from now on",
            example="EarlyStopping(monitor='val_loss', patience=3)",
            expected_impact="validation is back at its minimum at once",
            verify="evaluate that checkpoint on the validation set",
            if_it_fails="no checkpoint there: rerun up to that step",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="more data or stronger augmentation",
            example="transforms.RandAugment(), mixup 0.2, or twice the samples",
            expected_impact="the minimum of validation comes later and is lower",
            verify="the gap at the old minimum is smaller",
            if_it_fails="regularise as below",
        )
        name, value = (decay.path, decay.number) if decay is not None else ("weight_decay", None)
        new = 0.01 if not value else min(0.1, 10 * value)
        yield Fix(
            addresses=self.id,
            change=f"{name} {value if value is not None else 0:g} -> {new:g}"
            + (
                f", {dropout.path} {dropout.value} -> 0.2"
                if dropout is not None
                else ", dropout 0.2"
            ),
            example=f"{name}: {new:g}",
            expected_impact="train loss falls slower, the validation minimum is a few percent "
            "lower",
            verify="compare the two minima of validation",
            if_it_fails="halve the width or the depth of the model",
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from leakage or shift."""
        if case.setting("samples") is None:
            yield "the number of training samples and of parameters"
        if case.view.curve("val/accuracy") is None:
            yield "a validation metric beside the loss: overconfidence or real harm?"

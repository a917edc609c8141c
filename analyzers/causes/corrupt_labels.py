"""corrupt_labels: labels do not belong to their inputs.

What it is: shuffled, shifted or noisy labels leave nothing (or only a part) to be learned.
Told apart by: gradients and updates look normal, yet the loss stays at guessing, or training
    accuracy stops where the clean share of the labels ends.
Try next: look at a hundred samples with their labels; overfit 16 samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import (
    FAR,
    jump_of_training_near,
    labels_changed,
    usual_rate,
)
from ..core.finding import Basis
from ..core.rates import (
    creeping_validation,
    highest_rate,
    overwhelming_decay,
    thrown_about_a_guess,
    thrown_to_a_guess,
)
from ..core.registry import cause
from ..gradients.shares import measured
from ..loss.ordered import same_blocks
from ..loss.outcomes import unlearned
from ..loss.unmoved import deaf_to_inputs, few_answers, hardly_moved


@cause
@dataclass(frozen=True, slots=True)
class CorruptLabels:
    """Weighs normal updates without progress."""

    id: ClassVar[str] = "corrupt_labels"
    explains: ClassVar[tuple[str, ...]] = (
        "not_learning",
        "plateau",
        "underfitting",
        "overfitting",
        "suspicious_metric",
        "class_imbalance",
        "loss_divergence",
        "loss_spike",
        "forgetting",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Guessing in spite of gradients that flow."""
        yield from self._since_a_jump(case)
        flat = case.get("not_learning")
        if flat is not None and flat.number("random"):
            return  # an agent has no labels
        if flat is not None and flat.number("above"):
            # Labels that say nothing are soon guessed at; who errs by far more began so.
            yield case.because(flat, -0.6)
        if flat is not None:
            yield case.because(flat, 0.4 if flat.number("at_chance") else 0.3)
            for more in flat.evidence[1:]:
                yield Clue(0.12, more)
        for finding in case.all("underfitting", "plateau"):
            if finding.is_alarm and finding.number("all_wrong"):
                # It has learned how answers look, and not one that fits its input.
                yield case.because(finding, 0.65)
            elif finding.is_alarm:
                yield case.because(finding, 0.5 if finding.number("at_once") else 0.3)
        limited = case.get("underfitting")
        if limited is not None and limited.number("validation") > limited.number("accuracy") + 0.1:
            # Noise in the training labels alone: the clean validation set is done better.
            yield case.because(limited, 0.5)
        if limited is not None and limited.number("above"):
            yield case.because(limited, -0.6)
        for finding in case.all("overfitting")[:1]:
            # What is learned by heart alone, and foretells nothing at any time, has no rule.
            yield case.because(finding, 0.7 if finding.number("guessed") else 0.15)
        norm = case.view.curve("grad_norm")
        if norm is not None and flat is not None and len(norm) >= 8:
            finite = norm.y[np.isfinite(norm.y)]
            usual = float(np.median(finite)) if len(finite) else 0.0
            if usual > 1e-3:
                yield Clue(0.3, norm.remark(f"gradients flow: median {usual:.3g}"))
            elif 0 < usual < 1e-5:
                yield Clue(-0.6, norm.remark(f"hardly any gradient: median {usual:.3g}"))
        for share in measured(case.view, "update_ratio")[:1]:
            if share.level() < 1e-4:
                yield Clue(-0.6, share.curve.evidence(0, len(share.curve) - 1))
        rate, optimizer = highest_rate(case), case.setting("optimizer")
        usual = 1e-3 if optimizer is not None and "sgd" in optimizer.text else 3e-5
        if rate is not None and 0 < rate.value <= usual:
            # At so small a rate nothing is learned from right labels either.
            yield Clue(-0.45, rate.evidence)
        elif rate is not None and rate.value >= FAR * usual_rate(case):
            # So large a step throws away what right labels teach.
            yield Clue(-0.4, rate.evidence)
        pull = overwhelming_decay(case)
        if pull is not None:
            # Weights that are drawn to 0 give a guess, whatever the labels say.
            yield Clue(-0.5, pull)
        creeping = creeping_validation(case)
        if creeping is not None and flat is not None:
            # What is learned holds on other data: the labels do say something.
            yield Clue(-0.6, creeping)
        unmoved = hardly_moved(case.view)
        if unmoved is not None and flat is not None:
            # What wrong labels teach would change the answers, if for nothing.
            yield Clue(-0.4, unmoved)
        blocks = same_blocks(case.view)
        if blocks is not None and flat is not None:
            # Labels without sense have no blocks.
            yield Clue(-0.5, blocks)
        thrown = thrown_to_a_guess(case)
        if thrown is not None:
            yield case.because(thrown, -0.5)
        restless = thrown_about_a_guess(case)
        if restless is not None:
            yield case.because(restless, -0.6)
        deaf = deaf_to_inputs(case.view)
        if deaf is not None and flat is not None and unmoved is None:
            yield Clue(-0.6, deaf)
        few = few_answers(case.view)
        if few is not None and flat is not None and deaf is None and unmoved is None:
            # Labels without sense leave a model that tells samples apart.
            yield Clue(-0.4, few)
        lost = unlearned(case.view)
        if lost is not None and labels_changed(case) is None:
            # These labels had taught it something.
            yield Clue(-0.5, lost)
        other = case.get("frozen_layers", "vanishing_gradients", "dead_units", "lr_anomaly")
        if other is not None and other.is_alarm:
            yield case.because(other, -0.6)
        if any(f.details.get("kind") == "double_softmax" for f in case.all("suspicious_metric")):
            yield case.because(case.all("suspicious_metric")[0], -0.5)

    @staticmethod
    def _since_a_jump(case: Case) -> Iterator[Clue]:
        """Only the training labels went wrong, or the model has learned other ones."""
        jumped = case.get("loss_divergence", "loss_spike")
        changed = labels_changed(case)
        if changed is not None and jumped is not None:
            yield Clue(0.6, changed)
            yield case.because(jumped, 0.3)
            return
        lost = case.get("forgetting")
        jump = jump_of_training_near(case, lost.first_step) if lost is not None else None
        if lost is not None and lost.is_alarm and jump is not None:
            # Next to nothing right is less than guessing: other labels were learned instead.
            yield case.because(lost, 0.6 if lost.number("now") < 0.02 else 0.3)
            yield Clue(0.25, jump)

    def issue(self, case: Case) -> str:
        """One sentence."""
        step = case.onset("loss_divergence", "loss_spike")
        if step is not None and not case.has("not_learning"):
            return f"since step {step:.10g} the training labels are not those of before"
        return "the labels do not tell the model anything about the inputs (or too few of them do)"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Look, overfit, relabel."""
        yield Fix(
            addresses=self.id,
            change="print 100 samples with their labels as the loss sees them, after all "
            "transforms",
            example="for x, y in islice(loader, 2): show(x), print(y)",
            expected_impact="a shift or a shuffle is visible at once: wrong for nearly all samples",
            verify="labels of at least 95 of 100 samples are right by eye",
            if_it_fails="if they are right, overfit 16 samples to test the model",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="shuffle inputs and labels together: one index for both",
            example="order = torch.randperm(n); x, y = x[order], y[order]",
            expected_impact="the loss leaves the level of guessing within 200 steps",
            verify="train loss < 90 % of its first value after 200 steps",
            if_it_fails="check for an off-by-one between targets and inputs (labels[1:])",
        )
        yield Fix(
            addresses=self.id,
            change="relabel the 100 samples with the highest loss",
            example="losses.topk(100).indices -> review",
            expected_impact="the share of wrong labels among them shows how much is lost",
            verify="train accuracy rises by about the share that was corrected",
            if_it_fails="use a loss that bears label noise (label smoothing 0.1)",
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a broken model."""
        yield (
            "the result of overfitting 16 samples: success speaks for labels or data, failure for "
            "the loss or the model"
        )
        yield "a hundred samples with labels as they reach the loss"

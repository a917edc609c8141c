"""wrong_loss: loss and output layer do not belong together.

What it is: softmax applied before a loss that applies it again, a regression loss on class
    labels, a sigmoid where a softmax belongs: the model learns, but the loss has another floor or
    scale.
Told apart by: a loss that stops at an exact value while the accuracy is good; a loss that is flat
    although gradients flow.
Try next: feed logits to the loss; recompute it by hand for one batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import climbs_from_the_start
from ..core.finding import Basis
from ..core.registry import cause
from ..loss.inverted import less_than_a_guess

BEYOND = 1.6
"""Times the cost of a guess that no cross-entropy begins with."""


@cause
@dataclass(frozen=True, slots=True)
class WrongLoss:
    """Weighs floors and disagreements between loss and accuracy."""

    id: ClassVar[str] = "wrong_loss"
    explains: ClassVar[tuple[str, ...]] = (
        "suspicious_metric",
        "overfitting",
        "plateau",
        "not_learning",
        "underfitting",
        "slow_convergence",
        "shape_mismatch",
        "loss_divergence",
        "nan_loss",
        "exploding_gradients",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """The exact floor, a broadcast warning, or a loss that does not fit."""
        odd = next(
            (f for f in case.all("suspicious_metric") if f.details.get("kind") == "double_softmax"),
            None,
        )
        if odd is not None:
            yield case.because(odd, 0.85)
            if (setting := case.setting("classes")) is not None:
                yield Clue(0.4, setting.evidence)
        for finding in case.all("not_learning", "plateau", "underfitting")[:1]:
            yield case.because(finding, 0.12)
        climbing = climbs_from_the_start(case)
        if climbing is not None:
            yield Clue(0.65, climbing)
        for finding in case.all("suspicious_metric"):
            if finding.details.get("kind") == "bottomless":
                yield case.because(finding, 0.7)
            elif finding.details.get("kind") == "contradiction":
                # A cross-entropy begins at what a guess costs; another loss has another scale.
                yield case.because(finding, 0.85 if finding.number("beyond") > BEYOND else 0.4)
            elif finding.details.get("kind") == "sign":
                yield case.because(finding, 0.75)
        inverted = less_than_a_guess(case.view)
        if inverted is not None and case.has("suspicious_metric", "overfitting"):
            # To be right less often than by chance one has to know what is right.
            yield Clue(0.75, inverted)
            yield Clue(0.3, case.all("suspicious_metric", "overfitting")[0].evidence[0])
        for finding in case.all("not_learning"):
            if finding.number("worse"):
                yield case.because(finding, 0.5)
        for placed in case.view.events:
            if "Using a target size" in placed.text:
                yield Clue(0.8, placed.evidence())
                break

    def issue(self, case: Case) -> str:
        """One sentence."""
        odd = next(
            (f for f in case.all("suspicious_metric") if f.details.get("kind") == "double_softmax"),
            None,
        )
        if odd is not None:
            return f"softmax is applied twice: the loss cannot fall below {odd.number('floor'):.4g}"
        if _is_climbed(case):
            return "the loss is climbed, not descended: its sign or that of the update is wrong"
        return "the loss function does not fit the output layer or the shape of the targets"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Sign, logits, hand check, shapes."""
        if _is_climbed(case):
            yield Fix(
                addresses=self.id,
                change="check the sign of the loss and of the update",
                example="loss = criterion(output, target)  # not -criterion(...), maximize=False",
                expected_impact="the loss falls within the first 20 steps",
                verify="the loss after 20 steps is below the first one",
                if_it_fails="a hundredth of the rate: if the loss still rises, a sign is wrong",
                is_quick=True,
            )
        yield Fix(
            addresses=self.id,
            change="feed raw logits to the loss: remove the softmax (or sigmoid) before it",
            example="loss = F.cross_entropy(logits, target)  # no softmax in forward()",
            expected_impact="the loss falls below its present floor within 50 steps",
            verify="the first loss of an untrained model is ln(classes); a confident one goes to 0",
            if_it_fails="compute the loss of one batch by hand and compare it with the logged one",
        )
        yield Fix(
            addresses=self.id,
            change="check that prediction and target have the same shape and type",
            example="assert pred.shape == target.shape, (pred.shape, target.shape)",
            expected_impact="a broadcast that averages over all pairs ends; R2 rises above 0",
            verify="no 'Using a target size' warning in the log",
            if_it_fails="print both for two samples",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="overfit 16 samples with the loss as it is",
            example="train(steps=300, data=first_16, dropout=0, weight_decay=0)",
            expected_impact="a right loss reaches nearly 0 on 16 samples in 300 steps",
            verify="loss < 5 % of its first value",
            if_it_fails="the loss or the graph is wrong; if it succeeds, look at the labels",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from bad labels."""
        yield (
            "the result of overfitting 16 samples: success speaks for labels or data, failure for "
            "the loss or the model"
        )


def _is_climbed(case: Case) -> bool:
    """Something shows that the sign of what is minimised is wrong."""
    is_opposite = any(f.details.get("kind") == "sign" for f in case.all("suspicious_metric"))
    is_climbing = climbs_from_the_start(case) is not None
    return is_opposite or is_climbing or less_than_a_guess(case.view) is not None

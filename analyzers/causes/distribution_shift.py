"""distribution_shift: validation data come from elsewhere than training data.

What it is: other sources, times, groups or classes in the validation set.
Told apart by: validation never gets good although training does, and training samples sent through
    the same path are fine.
Try next: compare simple statistics of both sets; split at random once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import gradient_at, jump_of_training_near
from ..core.finding import Basis
from ..core.registry import cause
from ..loss.first_pass import never_as_good_as_first_epoch
from ..loss.inverted import less_than_a_guess


@cause
@dataclass(frozen=True, slots=True)
class DistributionShift:
    """Weighs validation that never gets good."""

    id: ClassVar[str] = "distribution_shift"
    explains: ClassVar[tuple[str, ...]] = (
        "suspicious_metric",
        "overfitting",
        "loss_divergence",
        "loss_spike",
        "forgetting",
    )
    basis: ClassVar[Basis] = Basis.INFERENCE

    def clues(self, case: Case) -> Iterator[Clue]:
        """The same picture as a wrong path, and a little less likely."""
        for finding in case.all("suspicious_metric"):
            if finding.details.get("kind") == "validation":
                yield case.because(finding, 0.5)
        for finding in case.all("overfitting")[:1]:
            yield case.because(finding, 0.2)
            jump = jump_of_training_near(case, finding.first_step)
            if jump is not None:
                yield Clue(0.4, jump)
        worse = never_as_good_as_first_epoch(case.view)
        if worse is not None and case.has("overfitting", "suspicious_metric"):
            yield Clue(0.3, worse)
        inverted = less_than_a_guess(case.view)
        if inverted is not None:
            # What is only seen in another way is guessed at, and not missed on purpose.
            yield Clue(-0.5, inverted)
        shifted = case.get("loss_divergence", "loss_spike")
        sudden = gradient_at(case, shifted.first_step) if shifted is not None else None
        if shifted is not None and sudden is not None and sudden.value < 2.0:
            yield case.because(shifted, 0.3)

    def issue(self, case: Case) -> str:
        """One sentence."""
        return "the validation set differs from what the model is trained on"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Compare, resplit, cover."""
        yield Fix(
            addresses=self.id,
            change="split train and validation once at random, and compare",
            example="random_split(all_data, [0.9, 0.1], generator=seeded)",
            expected_impact="validation close to training: the old split was the shift",
            verify="gap below 10 % after the same number of steps",
            if_it_fails="the evaluation path is wrong, not the data",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="compare class shares and feature means of both sets",
            example="Counter(train.labels), Counter(val.labels)",
            expected_impact="the feature or class that differs is named",
            verify="a classifier that tells the sets apart has an AUC near 0.5",
            if_it_fails="compare by source or date",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="add data of the missing kind to training, or weight it",
            example="WeightedRandomSampler(weights_by_source)",
            expected_impact="validation falls with training",
            verify="per-source validation losses move together",
            if_it_fails="report per source and accept the shift",
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates shift from path."""
        yield "validation loss per source or class"

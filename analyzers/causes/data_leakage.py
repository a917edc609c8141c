"""data_leakage: validation data, or the answers, are in what the model is trained on.

What it is: duplicates across the splits, labels in the features, or fitting on all data.
Told apart by: hardly anything in the curves: validation as good as training although the model
    could memorise, or far too good too soon. It needs a look at the data.
Try next: hash samples of both splits; shuffle the labels, a clean pipeline falls to chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause


@cause
@dataclass(frozen=True, slots=True)
class DataLeakage:
    """Weighs results that are too good."""

    id: ClassVar[str] = "data_leakage"
    explains: ClassVar[tuple[str, ...]] = ("suspicious_metric",)
    basis: ClassVar[Basis] = Basis.INFERENCE

    def clues(self, case: Case) -> Iterator[Clue]:
        """Validation that is better than it can be."""
        for finding in case.all("suspicious_metric"):
            if finding.details.get("kind") in ("too_good", "better_than_train"):
                # What is surely wrong beside it comes first: leaks do not explain that.
                is_second = any(
                    one.is_alarm
                    and one.id not in self.explains
                    and one.confidence > finding.confidence
                    for one in case.findings
                )
                yield case.because(finding, 0.25 if is_second else 0.5)

    def issue(self, case: Case) -> str:
        """One sentence."""
        return "validation samples or their answers may be part of what the model is trained on"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Hash, shuffle, group."""
        yield Fix(
            addresses=self.id,
            change="hash the samples of both splits and count what they share",
            example="len(set(map(hash_sample, train)) & set(map(hash_sample, val)))",
            expected_impact="0 in a clean split; validation falls to its true level without them",
            verify="evaluate without the shared samples",
            if_it_fails="compare near-duplicates (MinHash)",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="train 200 steps with shuffled labels",
            example="y = y[torch.randperm(len(y))]",
            expected_impact="a clean pipeline stays at chance; a leaking one does not",
            verify="validation accuracy near 1 / classes",
            if_it_fails="remove features one by one until it falls",
        )
        yield Fix(
            addresses=self.id,
            change="split by group or time instead of by row",
            example="GroupShuffleSplit(groups=patient_id)",
            expected_impact="validation drops to what new data will give",
            verify="a fresh hold-out set gives the same value",
            if_it_fails="ask for data collected later",
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What proves it."""
        yield "sample ids or hashes of both splits: curves alone cannot show leakage"

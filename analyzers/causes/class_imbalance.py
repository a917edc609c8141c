"""class_imbalance: rare classes weigh too little in the loss to be learned.

What it is: most examples are of few classes, so predicting those is nearly right and the
    gradient of the rare ones drowns.
Told apart by: counts that differ more than tenfold, accuracy equal to the share of the most common
    class, balanced accuracy far below accuracy. A collapsed objective predicts one class with
    balanced labels, too.
Try next: weigh the loss by inverse frequency, resample, report balanced accuracy.
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
class RareClasses:
    """Weighs counts and what the model makes of them."""

    id: ClassVar[str] = "class_imbalance"
    explains: ClassVar[tuple[str, ...]] = ("class_imbalance", "mode_collapse", "suspicious_metric")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Counts, metrics, and predictions of one class."""
        found = case.get("class_imbalance")
        if found is None or not found.is_alarm:
            return
        yield Clue(0.75, found.evidence[-1])
        if found.number("ratio") > 10:
            yield Clue(0.7, found.evidence[0])
        collapse = case.get("mode_collapse")
        if collapse is not None and collapse.details.get("way") == "predictions":
            yield Clue(0.3, collapse.evidence[0])

    def issue(self, case: Case) -> str:
        """One sentence with the ratio, where it is known."""
        found = case.get("class_imbalance")
        ratio = found.number("ratio") if found is not None else 0.0
        if ratio > 10:
            return (
                f"the most common class occurs {ratio:.4g} times as often as the rarest, and the "
                "model ignores the rare ones"
            )
        return "the model predicts the common classes and ignores the rare ones"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Weigh, resample, measure."""
        yield self._fix(
            "weigh the loss by inverse class frequency",
            "nn.CrossEntropyLoss(weight=counts.sum() / (len(counts) * counts))",
            "balanced accuracy rises by 10 points or more within 2 epochs; accuracy may fall a "
            "little",
            "use the square root of the weights if the loss becomes noisy",
        )
        yield self._fix(
            "draw rare classes more often",
            "sampler = WeightedRandomSampler(1.0 / counts[labels], len(labels))",
            "the recall of the rarest class leaves 0 within an epoch",
            "combine with augmentation: the rare examples are seen very often",
        )
        yield self._fix(
            "start the output bias at the log of the class shares",
            "head.bias.data = torch.log(counts / counts.sum())",
            "the first loss is the label entropy, and rare classes are predicted from the first "
            "epoch on",
            "use a focal loss (gamma 2)",
        )
        yield self._fix(
            "judge by macro-F1 or balanced accuracy and keep the best checkpoint by it",
            "metric = sklearn.metrics.balanced_accuracy_score(y_true, y_pred)",
            "the reported number no longer rewards ignoring a class; it starts near 1 / classes",
            "look at the confusion matrix for labels that are mixed up",
            is_quick=True,
        )

    def _fix(
        self, change: str, example: str, impact: str, next_step: str, *, is_quick: bool = False
    ) -> Fix:
        return Fix(
            addresses=self.id,
            change=change,
            example=example,
            expected_impact=impact,
            verify="log the recall of every class at each evaluation: none stays at 0",
            if_it_fails=next_step,
            is_quick=is_quick,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What would make it sure."""
        found = case.get("class_imbalance")
        if found is None or found.number("ratio") <= 10:
            yield "counts of the training labels per class: a ratio over 10 settles it"
        yield "the recall per class at the last evaluation"

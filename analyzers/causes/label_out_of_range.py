"""label_out_of_range: a label, token id or other index is beyond the table it points into.

What it is: labels outside [0, n_classes), token ids beyond the vocabulary, positions beyond the
    maximal length, edges to nodes that do not exist.
Told apart by: messages that name the range or the assertion on it; settings such as num_classes
    or vocab_size that are not larger than the index.
Try next: check the range of labels and ids in all splits before training; resize the output or
    the embedding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..errors.hypothesis import MessageCause


@cause
@dataclass(frozen=True)
class LabelOutOfRange(MessageCause):
    """Weighs what speaks for an index out of its range."""

    id: ClassVar[str] = "label_out_of_range"
    explains: ClassVar[tuple[str, ...]] = (
        "device_assert",
        "index_out_of_range",
        "exception",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        return "a label, token id or other index lies outside the table that it points into"

    def more_clues(self, case: Case) -> Iterator[Clue]:
        """Settings that state the size of the table."""
        found = case.get("index_out_of_range", "device_assert")
        if found is None:
            return
        entry = str(found.details.get("rule", ""))
        meanings: tuple[str, ...] = ()
        if "label" in entry or "target" in entry:
            meanings = ("classes",)
        elif "token" in entry or "embedding" in entry:
            meanings = ("vocab_size",)
        for meaning in meanings:
            setting = case.setting(meaning)
            if setting is not None and setting.number is not None:
                yield Clue(0.2, setting.evidence)

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Check, clean, and fail early."""
        yield Fix(
            addresses=self.id,
            change="count the labels or ids of every split once and compare them with the table",
            example="print(torch.unique(labels))   # for train, validation and test",
            expected_impact="shows which split holds which value that is out of range",
            verify="smallest value 0, largest value below the size of the table, in all splits",
            if_it_fails="if all are in range, look at positions, segment ids and ignored values",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="check the range in the dataset, so that the sample is named when it fails",
            example="assert 0 <= label < num_classes, (index, label)",
            expected_impact="the exception names the sample instead of a kernel",
            verify="iterate over the loader alone for one epoch",
            if_it_fails="run one step on the CPU to get the exact line",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """The numbers that decide."""
        yield (
            "the smallest and largest label (or token id) per split, and num_classes or "
            "vocab_size: tells an index out of range from a faulty kernel or driver"
        )

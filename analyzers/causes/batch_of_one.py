"""batch_of_one: a batch with a single example reached code that needs at least two.

What it is: the last batch of an epoch (or of a group, or every batch) has one example, and batch
    normalisation or a standard deviation over the batch is undefined.
Told apart by: the message names the input's size with a first dimension of 1; the number of
    examples leaves one over when divided by the batch size. A head with one output warns at every
    step, whatever the batch.
Try next: drop the last incomplete batch, or make the batch size divide the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Evidence, EvidenceKind
from ..core.registry import cause
from ..outputs.statistics_code import OF_A_HEAD, OF_THE_BATCH, went_well_before

_ONE = re.compile(r"\[1\s*[,\]]")


@cause
@dataclass(frozen=True, slots=True)
class BatchOfOne:
    """Weighs the message's own shape and the arithmetic of the batches."""

    id: ClassVar[str] = "batch_of_one"
    explains: ClassVar[tuple[str, ...]] = ("degenerate_variance", "nan_loss", "exception")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A shape of one, a batch size of one, or one example left over."""
        found = case.get("degenerate_variance")
        if found is None or not found.is_alarm or found.number("collapsed"):
            return
        size = str(found.details.get("size", ""))
        code = str(found.details.get("code", ""))
        if size:
            yield Clue(0.97, found.evidence[0], states=_ONE.search(size) is not None)
        else:
            yield Clue(0.3, found.evidence[0])
            if OF_A_HEAD.search(code) and not OF_THE_BATCH.search(code):
                yield Clue(-0.5, Evidence(EvidenceKind.LOG, found.evidence[0].ref, code[:200]))
            elif OF_THE_BATCH.search(code):
                yield Clue(0.3, Evidence(EvidenceKind.LOG, found.evidence[0].ref, code[:200]))
            late = went_well_before(case, found)
            if late is not None:
                # The same line had more elements in every step before.
                yield Clue(0.6, late)
        batch, samples = case.setting("batch_size"), case.setting("samples")
        if batch is None or not batch.number:
            return
        if batch.number == 1:
            yield Clue(0.8, batch.evidence)
        elif samples is not None and samples.number:
            left = samples.number % batch.number
            quote = f"{samples.value} examples in batches of {batch.value} leave {left:g} over"
            place = Evidence(EvidenceKind.CONFIG, f"config:{samples.path}", quote)
            if left == 1:
                yield Clue(0.8, place)
            elif not size:  # a shape in the message is nearer than arithmetic over all examples
                yield Clue(-0.4, place)

    def issue(self, case: Case) -> str:
        """One sentence with the arithmetic where it is known."""
        batch, samples = case.setting("batch_size"), case.setting("samples")
        if batch is not None and batch.number == 1:
            return f"{batch.path} is 1, and the statistic needs at least two examples"
        if (
            batch is not None
            and samples is not None
            and batch.number
            and samples.number
            and samples.number % batch.number == 1
        ):
            return (
                f"{samples.number:g} examples in batches of {batch.number:g} leave a last batch "
                "of one, over which the statistic is undefined"
            )
        return "a batch with a single example reached code that needs at least two"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Drop it, change the arithmetic, or change the layer."""
        batch = case.setting("batch_size")
        number = batch.number if batch is not None else None
        if number != 1:
            yield self._fix(
                "drop the last incomplete batch",
                "DataLoader(dataset, batch_size=batch_size, shuffle=True, drop_last=True)",
                "the message is gone and the epoch ends; under one batch of data per epoch is "
                "left out",
                "the batch of one is not the last: print len(batch) at every step",
            )
        if batch is not None and number:
            other = 8 if number == 1 else int(number) + 1 if number < 4 else int(number) - 1
            yield self._fix(
                f"{batch.path} {number:g} -> {other}",
                f"{batch.path}: {other}",
                "every batch has at least two examples from the first epoch on",
                "count the examples: the remainder must not be 1",
            )
        yield self._fix(
            "use a normalisation that does not need the batch",
            "nn.GroupNorm(1, channels)  # or nn.LayerNorm(channels) instead of BatchNorm",
            "a batch of one passes; train loss differs by less than 5 % after an epoch",
            "keep BatchNorm and put it in eval mode for single examples",
            is_quick=False,
        )
        yield self._fix(
            "take the statistic with correction=0 and an eps",
            "advantage = (a - a.mean()) / (a.std(correction=0) + 1e-8)",
            "train loss stays finite for the next 200 steps",
            "skip batches with fewer than two examples",
        )

    def _fix(
        self, change: str, example: str, impact: str, next_step: str, *, is_quick: bool = True
    ) -> Fix:
        return Fix(
            addresses=self.id,
            change=change,
            example=example,
            expected_impact=impact,
            verify="run one whole epoch: the last batch passes without the message",
            if_it_fails=next_step,
            is_quick=is_quick,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a head with one output."""
        if case.setting("samples") is None:
            yield "the number of training examples: a remainder of 1 proves the batch of one"
        yield "the size of the batch at the step of the warning"

"""fragmentation: enough memory is reserved, but not in one piece.

What it is: the allocator holds idle blocks that are together larger than the request, each too
    small for it; sizes that vary from step to step leave such holes.
Told apart by: the message itself: reserved but unallocated memory above the request and above a
    tenth of the device. Little idle memory means that the batch is too large.
Try next: expandable segments, fixed shapes, less variation in sequence length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..memory.impact import impact
from ..resources.measures import curves_of
from ..resources.remedies import smaller_batch
from ..resources.shortage import shown_bytes


@cause
@dataclass(frozen=True, slots=True)
class Fragmentation:
    """Compares idle memory with the request."""

    id: ClassVar[str] = "fragmentation"
    explains: ClassVar[tuple[str, ...]] = ("cuda_oom",)
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """The arithmetic of the message."""
        found = case.get("cuda_oom")
        if found is None:
            return
        idle, request = found.number("idle"), found.number("request")
        if found.details.get("pattern") == "fragmented":
            yield case.clue(0.88, found.evidence[0], states=True)
        elif request > 0 and idle >= request:
            yield case.clue(0.25, found.evidence[0])

    def issue(self, case: Case) -> str:
        """One sentence with idle memory and request."""
        found = case.get("cuda_oom")
        if found is None:
            return "the allocator's idle memory is in pieces"
        return (
            f"{shown_bytes(found.number('idle'))} are reserved but idle, more than the "
            f"{shown_bytes(found.number('request'))} that were asked for, but in pieces"
        )

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Segments that can grow, then steadier shapes."""
        yield Fix(
            addresses=self.id,
            change="let the allocator grow its segments instead of splitting them",
            example="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py",
            expected_impact="idle reserved memory falls below 10 % of the device within the first "
            f"epoch, and the request fits{impact(case, 'expandable_segments')}",
            verify="torch.cuda.memory_reserved() - memory_allocated() over 500 steps",
            if_it_fails="on devices without it: PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="pad batches to a few fixed lengths, so that blocks are used again",
            example="pad_to_multiple_of=64  # or group samples by length",
            expected_impact="reserved memory stops growing after the first epoch; step time "
            "varies less",
            verify="the difference between reserved and allocated memory stays level",
            if_it_fails="take the memory snapshot (torch.cuda.memory._snapshot) and look at which "
            "sizes leave holes",
            is_quick=True,
        )
        yield smaller_batch(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """Both curves of the allocator."""
        if not curves_of(case.view, "memory"):
            yield (
                "allocated and reserved memory per step: a growing difference means "
                "fragmentation, both rising a leak"
            )

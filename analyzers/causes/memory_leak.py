"""memory_leak: something is kept at every step that is never needed again.

What it is: tensors with their graph in a list, caches without a limit, growing Python lists in
    workers: memory rises evenly until an allocation fails.
Told apart by: memory that rises with the steps and does not level off. A batch that is too large
    fails at a level memory; a cache levels off; longer sequences rise with their length.
Try next: store numbers instead of tensors, compare two memory snapshots 500 steps apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Finding
from ..core.registry import cause


@cause
@dataclass(frozen=True, slots=True)
class MemoryLeak:
    """Weighs growth first, then what came of it."""

    id: ClassVar[str] = "memory_leak"
    explains: ClassVar[tuple[str, ...]] = (
        "memory_growth",
        "cuda_oom",
        "host_oom",
        "throughput_drop",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Growth, the failure after it, code that keeps graphs."""
        growth = case.get("memory_growth")
        failure = case.get("cuda_oom", "host_oom")
        slower = case.get("throughput_drop")
        if slower is not None and slower.number("gradual"):
            # Lists that grow cost time at every step, whether memory is logged or not.
            yield case.clue(0.2 if growth is not None else 0.45, slower.evidence[0])
        if growth is not None:
            yield case.clue(0.86, growth.evidence[0])
            if failure is not None:
                yield case.clue(0.6, failure.evidence[0])
        elif failure is not None and (failure.first_step or 0.0) > 100.0:
            # Memory that was enough for hundreds of steps was enough for one.
            weight = 0.1 if failure.details.get("pattern") == "capacity" else 0.25
            yield case.clue(weight, failure.evidence[0])
        if growth is not None or failure is not None:
            yield from self._kept_graphs(case)

    def _kept_graphs(self, case: Case) -> Iterator[Clue]:
        for placed in case.view.events:
            for frame in placed.event.frames:
                if "retain_graph=True" in frame.code:
                    quote = f"{frame.file}:{frame.line}: {frame.code.strip()}"
                    yield case.clue(0.5, placed.evidence(quote))
                    return

    def issue(self, case: Case) -> str:
        """One sentence with the rate."""
        growth = case.get("memory_growth")
        if growth is None:
            return "something may be kept at every step that fills memory and costs time"
        rate = growth.number("slope")
        name = growth.evidence[0].ref.partition("@")[0]
        return f"memory is not given back: {name} changes by about {rate:.3g} per step, all along"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """From the usual culprit to finding any."""
        growth = case.get("memory_growth")
        metric = growth.evidence[0].ref.partition("@")[0] if growth else "memory in use"
        yield Fix(
            addresses=self.id,
            change="keep numbers instead of tensors: `.item()` or `.detach()` on everything that "
            "is stored across steps, and no retain_graph",
            example="losses.append(loss.item()); loss.backward()",
            expected_impact=f"{metric} stays level (below 1 % growth per 1,000 steps) from the "
            "first hundred steps on",
            verify=f"slope of {metric} over 1,000 steps from the last checkpoint",
            if_it_fails="something else is kept: compare two snapshots",
            is_quick=True,
        )
        yield _snapshots(self.id, growth)
        yield Fix(
            addresses=self.id,
            change="bound what caches may hold, and let data-loader workers start anew each epoch",
            example="functools.lru_cache(maxsize=1024); DataLoader(..., persistent_workers=False)",
            expected_impact=f"{metric} falls back at every epoch instead of rising on",
            verify=f"{metric} at the same step of three successive epochs",
            if_it_fails="run a few hundred steps with num_workers=0: if it still rises, the main "
            "process is the one that keeps things",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What is kept, and where."""
        if case.get("memory_growth") is None:
            yield (
                "memory in use per step: a rise before the failure means a leak, a level line "
                "that the batch does not fit"
            )
        else:
            yield (
                "two memory snapshots 500 steps apart (torch.cuda.memory._dump_snapshot, or "
                "tracemalloc for host memory): name the line that keeps what grows, and tell a "
                "leak from a cache that still fills"
            )


def _snapshots(addresses: str, growth: Finding | None) -> Fix:
    is_host = growth is not None and growth.number("is_host") > 0
    example = (
        "tracemalloc.start(); later: tracemalloc.take_snapshot().compare_to(first, 'lineno')"
        if is_host
        else "torch.cuda.memory._record_memory_history(); _dump_snapshot('step500.pickle')"
    )
    return Fix(
        addresses=addresses,
        change="compare two snapshots of the memory, 500 steps apart",
        example=example,
        expected_impact="the line that allocates what stays is at the top of the difference, "
        "within 1,000 steps",
        verify="its size divided by 500 is the growth per step that the log shows",
        if_it_fails="the growth is outside of what was traced (a native library, the allocator's "
        "own pieces): compare reserved with allocated memory",
        is_quick=True,
    )

"""dataloader_bottleneck: reading and preparing data takes longer than computing on it.

What it is: too few workers, slow storage or costly decoding: each step waits for its batch.
Told apart by: data_time as a share of the step. A slow device or network leaves data_time as it
    was; a leak slows down gradually with memory.
Try next: more workers, prefetching, decoding ahead of time, a local copy of the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Finding
from ..core.fixes import shown
from ..core.registry import cause
from ..resources.measures import curves_of
from ..resources.messages import FEW_WORKERS, matching


@cause
@dataclass(frozen=True, slots=True)
class DataloaderBottleneck:
    """Weighs the wait for data, the workers and the warnings about them."""

    id: ClassVar[str] = "dataloader_bottleneck"
    explains: ClassVar[tuple[str, ...]] = (
        "dataloader_bound",
        "throughput_drop",
        "straggler",
        "stall",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """The share first, then settings and messages."""
        bound, slower = case.get("dataloader_bound"), case.get("throughput_drop")
        if bound is not None and bound.number("share") > 0:
            yield case.clue(0.86 if bound.number("share") > 0.5 else 0.7, bound.evidence[0])
            for steps in bound.evidence[1:2]:
                # The whole step is timed by another clock than the wait within it.
                yield case.clue(0.15, steps)
        if slower is not None:
            yield from self._slower(case, slower)
        if bound is None and slower is None:
            yield from self._waiting(case)
            return
        workers = case.setting("workers")
        if workers is not None and workers.number is not None and workers.number <= 2:
            yield case.clue(0.5, workers.evidence)
        for placed in matching(case.view, FEW_WORKERS, EventKind.WARNING):
            yield case.clue(0.4, placed.evidence())
            break

    def _waiting(self, case: Case) -> Iterator[Clue]:
        """Weak: a rank that gets its data late, a run that hangs with workers."""
        behind, stalled = case.get("straggler"), case.get("stall")
        if behind is not None:
            yield case.clue(0.2, behind.evidence[0])
        workers = case.setting("workers")
        if stalled is not None and workers is not None and (workers.number or 0) > 0:
            yield case.clue(0.2, workers.evidence)
        elif stalled is not None and workers is None:
            yield case.clue(0.15, stalled.evidence[0])

    def _slower(self, case: Case, slower: Finding) -> Iterator[Clue]:
        """Did the wait for data grow when the steps did?"""
        curve = next(iter(curves_of(case.view, "data_time")), None)
        if curve is None:
            yield case.clue(0.2 if slower.number("gradual") else 0.35, slower.evidence[0])
            return
        at = int(np.searchsorted(curve.x, slower.first_step or 0.0))
        before, after = curve.y[max(0, at - 512) : at], curve.y[at : at + 512]
        before, after = before[np.isfinite(before)], after[np.isfinite(after)]
        if len(before) < 4 or len(after) < 4:
            return
        old, new = float(np.median(before)), float(np.median(after))
        quote = f"median {old:.4g} before, {new:.4g} since"
        evidence = curve.evidence(max(0, at - 1), min(at, len(curve) - 1), quote)
        yield case.clue(0.85 if new > 1.3 * old else -0.6, evidence)
        if new > 1.3 * old:
            yield case.clue(0.3, slower.evidence[0])

    def issue(self, case: Case) -> str:
        """One sentence with the share and the workers."""
        bound = case.get("dataloader_bound")
        workers = case.setting("workers")
        extra = f" with {workers.path} {workers.value}" if workers is not None else ""
        if bound is not None and bound.number("share") > 0:
            share = f"{bound.number('share'):.0%} of each step"
            return f"loading data{extra} does not keep up: {share} passes waiting"
        return f"loading data{extra} may not keep up with the training"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Workers, preparation, storage."""
        bound = case.get("dataloader_bound")
        metric = bound.evidence[0].ref.partition("@")[0] if bound else "data_time"
        workers = case.setting("workers")
        change, example = "use 4 to 8 data-loader workers per device", "num_workers: 8"
        if workers is not None and workers.number is not None:
            more = max(4.0, 2.0 * workers.number)
            name = workers.path.rpartition(".")[2]
            change = f"{name} {shown(workers.number)} -> {shown(more)}"
            example = f"{name}: {shown(more)}"
        yield Fix(
            addresses=self.id,
            change=f"{change}, with prefetching and pinned memory",
            example=f"{example}, prefetch_factor: 4, pin_memory: true, persistent_workers: true",
            expected_impact=f"{metric} falls below 10 % of the step within the first 100 steps, "
            "throughput rises by up to what is waited for now",
            verify=f"median of {metric} over steps 100-300, as a share of the step",
            if_it_fails="more workers change nothing: storage or decoding is the limit",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="prepare the data once: decode, resize or tokenise ahead of the training",
            example="dataset.map(tokenize, num_proc=8).save_to_disk(path)",
            expected_impact=f"{metric} falls to the time of reading alone, from the first step on",
            verify="time 100 batches of the loader alone, without the model",
            if_it_fails="reading itself is slow: look at the storage",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="read from a local disk, in large shards instead of many small files",
            example="cp -r $DATA $TMPDIR/data  # in the job script, before the training",
            expected_impact=f"{metric} is halved or better where a shared file system was the "
            "limit, from the first epoch on",
            verify="throughput of 300 steps with local and with shared data",
            if_it_fails="run 300 steps on random tensors: that is the speed without any loading",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """The one measurement that decides."""
        if not curves_of(case.view, "data_time"):
            yield (
                "data_time beside step_time at every step: tells slow loading (it rises) from a "
                "slow device, neighbours on the node or the network (it stays)"
            )
        else:
            yield (
                "throughput of 300 steps on synthetic data, and the number of workers: tells a "
                "slow loader from slow storage"
            )

"""deadlock: ranks wait for each other because one of them does something else.

What it is: one rank is busy alone (saving, evaluating, reading data), took another branch, ran out
    of batches earlier, or calls collectives in another order; the others wait until a timeout.
Told apart by: a rank that is behind or missing in the watchdog's messages, different operations
    under the same number, a checkpoint or evaluation right before. A network failure leaves all
    ranks in the same operation; a death shows as an error or exit code before the timeout.
Try next: find the rank that did not come; make all ranks take the same collectives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..distributed.collectives import behind, mixed_operations, timeouts, world_size
from ..distributed.remedies import flight_recorder, raise_timeout


@cause
@dataclass(frozen=True, slots=True)
class Deadlock:
    """Weighs who waited, who did not come, and what the run was doing."""

    id: ClassVar[str] = "deadlock"
    explains: ClassVar[tuple[str, ...]] = ("nccl_timeout", "stall", "rank_failure")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Ranks out of step, a phase that one rank does alone, ranks that never came."""
        for placed in case.view.events_of(EventKind.NCCL, EventKind.EXCEPTION):
            if "mismatch between collectives" in placed.text:
                yield case.clue(0.95, placed.evidence(), states=True)
        finding = case.get("nccl_timeout")
        if finding is None:
            stall = case.get("stall")
            if stall is not None:
                has_ranks = (world_size(case.view) or 1) > 1
                yield case.because(stall, 0.55 if has_ranks else 0.45)
            return
        waits = timeouts(case.view)
        if pair := mixed_operations(waits):
            yield case.clue(0.85, pair[1].placed.evidence())
        if late := behind(waits):
            placed = next(w.placed for w in waits if w.sequence == late[1])
            yield case.clue(0.75, placed.evidence())
        if finding.details.get("phase"):
            yield case.clue(0.6, finding.evidence[-1])
        if finding.number("is_setup"):
            yield case.because(finding, 0.2)
        elif any(wait.absent for wait in waits):
            yield case.because(finding, 0.6)
        else:
            yield case.because(finding, 0.5 if finding.details.get("missing") else 0.42)
        if finding.number("is_effect"):
            yield case.clue(-0.7, finding.evidence[0])

    def issue(self, case: Case) -> str:
        """One sentence with the operation and the ranks."""
        finding = case.get("nccl_timeout")
        if finding is None:
            if (world_size(case.view) or 1) > 1:
                return "the ranks wait for each other and none goes on"
            return "the process waits for something that never comes: a lock, a worker, a peer"
        doing = finding.details.get("phase")
        missing = finding.details.get("missing")
        who = f"rank {missing}" if missing else "at least one rank"
        while_ = f" while {doing}" if doing else ""
        what = finding.details.get("operation") or "the collective"
        return f"{who} did not come to {what}{while_}, so the others waited until the timeout"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Where it stands; the same collectives on all ranks, more time, a recorder."""
        finding = case.get("nccl_timeout")
        if finding is None:
            yield from _look_where_it_stands(self.id)
            if (world_size(case.view) or 1) <= 1:
                return
        doing = str(finding.details.get("phase") or "") if finding else ""
        limit = next((w.limit for w in timeouts(case.view) if w.limit), None)
        if doing:
            yield raise_timeout(self.id, limit)
        yield Fix(
            addresses=self.id,
            change="let all ranks take the same number of steps and collectives"
            + (f", also while {doing}" if doing else ": uneven last batches, rank-0-only branches"),
            example="DataLoader(..., drop_last=True)  # or, for uneven inputs: with model.join():",
            expected_impact="the run passes the step at which it hung; no timeout in 1,000 steps",
            verify="print rank and step before the collective: all ranks reach it",
            if_it_fails="record the collectives and compare the ranks' last entries",
            is_quick=True,
        )
        yield flight_recorder(self.id)
        if not doing:
            yield raise_timeout(self.id, limit)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from the network and from a death."""
        if not case.has("nccl_timeout") and (world_size(case.view) or 1) <= 1:
            yield (
                "`py-spy dump --pid PID` of the process and its workers while it hangs: in "
                "`_try_get_data` it waits for the loader, in a lock or a collective it is a "
                "deadlock, in read or write the file system"
            )
            return
        yield (
            "the log of every rank (torchrun --redirects 3 --log-dir logs): a rank with an error "
            "of its own means that it died, one that stands elsewhere a deadlock, all in the same "
            "operation the network"
        )
        yield (
            "a rerun with TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1: the dump "
            "tells deadlock (one rank at another collective) from communication_failure"
        )


def _look_where_it_stands(addresses: str) -> Iterator[Fix]:
    yield Fix(
        addresses=addresses,
        change="when it hangs again, look at the stacks of all its processes before ending it",
        example="py-spy dump --pid PID   # for the main process and each worker",
        expected_impact="names the line that waits: loader, lock, collective or file system",
        verify="two dumps a minute apart show the same line",
        if_it_fails="without py-spy: run with python -X faulthandler and "
        "faulthandler.dump_traceback_later(1800, repeat=True)",
        is_quick=True,
    )
    yield Fix(
        addresses=addresses,
        change="let a worker that does not answer become an error instead of a silence",
        example="DataLoader(..., timeout=300)",
        expected_impact="a hang in the loader ends the run within 5 minutes, with a traceback",
        verify="the next hang has a message",
        if_it_fails="if it hangs with num_workers=0 too, it is not the loader",
        is_quick=True,
    )
    yield Fix(
        addresses=addresses,
        change="start the workers fresh instead of forking a process that holds locks",
        example="DataLoader(..., multiprocessing_context='spawn')",
        expected_impact="no hang in the number of steps after which it came",
        verify="the run passes the step at which it hung, three times",
        if_it_fails="look at what the workers open: files, database handles, threads of OpenCV",
    )

"""nccl_timeout: ranks waited for each other until a collective operation timed out.

What it sees: watchdog messages of NCCL and RCCL, timeouts of gloo, HCCL, MPI and Horovod, of the
    c10d store and rendezvous, and `monitoredBarrier`; grouped by sequence number and operation:
    who waited, who is behind or never came, and what the run was doing.
Why it matters: the timeout is an effect. The rank that did not come holds the reason: it died, is
    busy with something else, or took another branch; if all came, the network is to blame.
Fires on:
    log: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE)
    log: RuntimeError: [Rank 0]: Ranks 1 failed to pass monitoredBarrier in 10000 ms
    log: RuntimeError: [unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation
Stays quiet:
    log: NCCL version 2.29.7+cuda13.1 | step 1 loss 2.0 | step 2 loss 1.9 | step 3 loss 1.8
    log: ENV[TORCH_NCCL_TIMEOUT] = 600 | step 1 loss 2.0 | step 2 loss 1.9 | Training completed
Try next: find the first rank that did not enter the collective (TORCH_NCCL_TRACE_BUFFER_SIZE=2000
    and TORCH_NCCL_DUMP_ON_TIMEOUT=1), and read its own log before that moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.calibration import finding_confidence
from ..core.failure import failure_evidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .collectives import Wait, behind, cause_before, missing_ranks, phase, timeouts
from .progress import last_step, spoken
from .verdicts import MESSAGE, verdict


@analyzer
@dataclass(frozen=True, slots=True)
class NcclTimeout:
    """Report the first collective that timed out, with who waited and who did not come."""

    id: ClassVar[str] = "nccl_timeout"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("nccl", "exception", "error", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Group what the ranks say into one finding."""
        found = timeouts(view)
        waits = [wait for wait in found if wait.is_open] or found
        if not waits:
            return
        first = min(waits, key=lambda w: (not w.is_main, w.sequence is None, w.placed.event.line))
        yield self._report(view, first, waits)

    def _report(self, view: RunView, first: Wait, waits: list[Wait]) -> Finding:
        before = cause_before(view, waits)
        doing = phase(view, first)
        missing = missing_ranks(view, waits)
        step = first.placed.event.step
        evidence = [failure_evidence(first.placed)]
        evidence += [w.placed.evidence() for w in waits if w is not first][:2]
        if before is not None:
            evidence.insert(0, failure_evidence(before))
        if doing is not None:
            evidence.append(doing[1].evidence())
        ended = verdict(view)
        is_effect = before is not None or (ended is not None and ended.authority >= MESSAGE)
        is_alarm = first.is_open and not is_effect
        waiting = Severity.WARNING if first.is_pending and not is_effect else Severity.INFO
        return Finding(
            id=self.id,
            title=self._title(view, first, waits, missing, doing[0] if doing else ""),
            severity=Severity.CRITICAL if is_alarm else waiting,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95),
            basis=Basis.OBSERVATION,
            evidence=tuple(dict.fromkeys(evidence)),
            first_step=step if step is not None else last_step(view),
            details={
                "operation": first.operation,
                "sequence": float(first.sequence) if first.sequence is not None else -1.0,
                "is_setup": float(first.is_setup),
                "missing": ", ".join(map(str, missing[:8])),
                "phase": doing[0] if doing else "",
                "is_effect": float(is_effect),
            },
        )

    @staticmethod
    def _title(
        view: RunView, first: Wait, waits: list[Wait], missing: tuple[int, ...], doing: str
    ) -> str:
        what = first.operation or "a collective operation"
        number = f" number {first.sequence}" if first.sequence is not None else ""
        limit = f" after {spoken(first.limit)}" if first.limit else ""
        ranks = sorted({rank for wait in waits for rank in wait.ranks})
        who = f"; ranks that waited: {_listed(ranks)}" if ranks else ""
        late = behind(waits)
        if late is not None:
            who += f"; behind, at number {late[1]} instead of {late[2]}: {_listed(late[0])}"
        elif missing:
            who += f"; not heard of: rank {_listed(missing)}"
        when = " while setting up" if first.is_setup else f" while {doing}" if doing else ""
        return f"{what}{number} timed out{limit}{when}{who}"


def _listed(ranks: tuple[int, ...] | list[int]) -> str:
    shown = ", ".join(str(rank) for rank in ranks[:8])
    return f"{shown} and {len(ranks) - 8} more" if len(ranks) > 8 else shown

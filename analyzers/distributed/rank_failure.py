"""rank_failure: one process of the run died and took the others with it.

What it sees: torchrun's `Root Cause (first observed failure)`, tasks that srun reports, dead
    workers of mp.spawn, DeepSpeed, MPI, Horovod or Ray; driver errors (Xid, ECC, a GPU off the
    bus); illegal memory accesses; collectives that failed at once. It names the first rank, how
    it ended and its own error; what the others say afterwards is only an effect.
Why it matters: the reason stands in that rank's own output, often far above the last lines.
Fires on:
    log: mpirun noticed that process rank 3 with PID 12345 on node n1 exited on signal 11.
    log: srun: error: n3: task 5: Segmentation fault (core dumped) | srun: Job step aborted: Waiting
    log: NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.
    log: RuntimeError: CUDA error: an illegal memory access was encountered
Stays quiet:
    log: step 1 loss 2.0 | step 2 loss 1.9 | step 3 loss 1.8 | Training completed
    log: srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
    log: Sending process 123 closing signal SIGTERM
Try next: read that rank's own stderr from its last step on; run it alone; if the driver reported
    an error, leave that node out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from mltd.runs.event import EventKind
from mltd.runs.failure import remoteness

from ..core.calibration import finding_confidence
from ..core.failure import failure_evidence, raised
from ..core.finding import Basis, Finding, Severity
from ..core.job_event import JobEvent
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from .collectives import timeouts
from .memo import first_of
from .quotes import as_said
from .reports import COMMUNICATION, GPU, HARDWARE, LAUNCHER, Report, reports
from .verdicts import MESSAGE, verdict

_BELOW = 10
"""Lines."""
_ORDER = {HARDWARE: 0, LAUNCHER: 1, GPU: 2, COMMUNICATION: 3}


@analyzer
@dataclass(frozen=True, slots=True)
class RankFailure:
    """Report the first death once; the cascade is its evidence at most."""

    id: ClassVar[str] = "rank_failure"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "nccl", "signal", "scheduler")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Choose the report that says most about who died first."""
        waiting = {id(wait.placed.event) for wait in timeouts(view)}
        found = [r for r in reports(view) if id(r.placed.event) not in waiting]
        open_ones = [report for report in found if not report.is_over]
        if not open_ones and not found:
            return
        chosen = _completed(min(open_ones or found, key=_preference), open_ones or found)
        own = _own_error(view, chosen, found)
        if chosen.kind == COMMUNICATION and own is not None:
            # A peer died of something else: that is its own finding.
            return
        yield self._report(view, chosen, own, open_ones or found)

    def _report(
        self, view: RunView, chosen: Report, own: PlacedEvent | None, found: list[Report]
    ) -> Finding:
        event = chosen.placed.event
        gpu = [r for r in found if r.kind in (HARDWARE, GPU, COMMUNICATION)]
        cause = _stated(chosen) or (own.event.title if own else "") or _title_of(gpu)
        severity = self._severity(view, chosen, own)
        evidence = [*as_said(_first_alike(chosen, found).placed), *as_said(chosen.placed)]
        if own is not None:
            evidence.append(failure_evidence(own))
        evidence += [shown for r in gpu[:3] for shown in as_said(r.placed)]
        evidence += [r.placed.evidence() for r in found if isinstance(r.placed, JobEvent)]
        basis = Basis.OBSERVATION
        return Finding(
            id=self.id,
            title=_sentence(chosen, cause),
            severity=severity,
            confidence=finding_confidence(basis, 0.95 if not chosen.is_term else 0.8),
            basis=basis,
            evidence=tuple(dict.fromkeys(evidence))[:5],
            first_step=event.step,
            details={
                "kind": gpu[0].kind if chosen.kind == LAUNCHER and gpu else chosen.kind,
                "who": chosen.who,
                "node": chosen.node or next((r.node for r in found if r.node), ""),
                "signal": chosen.signal,
                "xid": next((float(r.xid) for r in gpu if r.xid is not None), 0.0),
                "is_term": float(chosen.is_term),
                "has_own_error": float(own is not None),
                "is_vanished": float("OOM killer" in chosen.placed.text),
            },
        )

    @staticmethod
    def _severity(view: RunView, chosen: Report, own: PlacedEvent | None) -> Severity:
        if chosen.is_over:
            return Severity.INFO
        ended = verdict(view)
        if chosen.kind != HARDWARE and ended is not None and ended.authority >= MESSAGE:
            return Severity.INFO
        if any(wait.is_open for wait in timeouts(view)) and chosen.kind == LAUNCHER and own is None:
            # The watchdog took the process down: that is the finding, this its effect.
            return (
                Severity.INFO if chosen.signal in ("SIGABRT", "SIGTERM", "") else Severity.WARNING
            )
        is_lone_task = chosen.by == "srun" and chosen.who == "task 0"
        if is_lone_task and own is not None:
            return Severity.INFO
        return Severity.WARNING if own is not None or chosen.is_term else Severity.CRITICAL


def _preference(report: Report) -> tuple[int, bool, bool, int]:
    is_summary = not report.who and not report.how
    is_first = "first" in report.placed.event.title
    return _ORDER[report.kind], is_summary, not is_first, report.placed.event.line


def _first_alike(chosen: Report, found: list[Report]) -> Report:
    """Who died may be said by an echo: the first to tell of the same error stands above it."""
    if chosen.kind not in (HARDWARE, GPU):
        return chosen
    alike = [
        r
        for r in found
        if r.kind == chosen.kind
        and r.placed.source is chosen.placed.source
        and r.placed.event.line <= chosen.placed.event.line
    ]
    return min(alike, key=lambda r: r.placed.event.line, default=chosen)


def _completed(chosen: Report, found: list[Report]) -> Report:
    """MPI says who died in one line and how in the next."""
    if chosen.kind != LAUNCHER or chosen.how or not chosen.who:
        return chosen
    below = [
        r
        for r in found
        if r.how
        and r.placed.source is chosen.placed.source
        and 0 < r.placed.event.line - _end(chosen) <= _BELOW
    ]
    if not below:
        return chosen
    return replace(chosen, how=below[0].how, signal=below[0].signal, code=below[0].code)


def _own_error(view: RunView, chosen: Report, found: list[Report]) -> PlacedEvent | None:
    """The process's own exception, if the log shows it."""
    first = first_of(view)
    known = {id(report.placed.event) for report in found}
    if first is None or id(first.event) in known or remoteness(first.event) > 0:
        return None
    if first.event.kind in (EventKind.SCHEDULER, EventKind.SIGNAL, EventKind.NCCL):
        return None
    # torch.multiprocessing prints the worker's own traceback below its own.
    reach = _BELOW if chosen.by == "torch.multiprocessing" else 0
    is_near = first.source is not chosen.placed.source or first.event.line < _end(chosen) + reach
    return first if is_near else None


def _end(report: Report) -> int:
    return max(report.placed.event.line, report.placed.event.last_line)


def _stated(report: Report) -> str:
    """The exception that the launcher quotes from the process."""
    chain = raised(report.placed.event)[:-1]
    if not chain:
        return ""
    kind, message = chain[0]
    return f"{kind}: {message}" if message else kind


def _title_of(reports_: list[Report]) -> str:
    return reports_[0].placed.event.title if reports_ else ""


def _sentence(report: Report, cause: str) -> str:
    who = report.who or ("a GPU" if report.kind == HARDWARE else "a process")
    where = f" on {report.node}" if report.node else ""
    if report.kind == LAUNCHER:
        how = f" with {report.how}" if report.how else ""
        said = f": {cause}" if cause and cause != report.placed.event.title else ""
        if not report.who and not report.how:
            said = f": {cause or report.placed.event.title}"
        verb = "died first" if report.who else "died"
        text = f"{who}{where} {verb}{how}{said}"
    elif report.kind == COMMUNICATION:
        text = f"{who}{where} could not communicate: {report.placed.event.title}"
    else:
        text = f"{who}{where} failed: {report.placed.event.title}"
    return " ".join(text.split())[:300]

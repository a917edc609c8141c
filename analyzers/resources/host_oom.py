"""host_oom: the machine's own memory ran out, or the limit of the job was reached.

What it sees: the kills that Slurm (both spellings, or its record of the job: OUT_OF_MEMORY), the
    kernel, Kubernetes, LSF and PBS report;
    failed allocations of PyTorch on the CPU, NumPy, Python, C++ and TensorFlow's cpu allocator;
    data-loader workers that were killed. A bare `Killed` or exit code 137 is only a suspicion.
Why it matters: the process is gone without a Python error, often long after the real cause, and
    more GPU memory does not help.
Fires on:
    log: step 9 loss 1.2 | slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch.
    log: srun: error: n3: task 5: Out Of Memory
    log: RuntimeError: DataLoader worker (pid 123) is killed by signal: Killed.
    log: step 9 loss 1.2 | Killed
    log: step 8 loss 1.3 | step 9 loss 1.2 ; job: state=OUT_OF_MEMORY
    log: step 8 loss 1.3 | step 9 loss 1.2 ; job: state=FAILED, exit_code=137
Stays quiet:
    log: slurmstepd: error: *** JOB 4 ON n2 CANCELLED AT 2022-04-14T16:20:46 DUE TO TIME LIMIT ***
    log: RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB
    log: ValueError: bad shape | srun: error: n3: tasks 5-7: Killed
    log: step 8 loss 1.3 | step 9 loss 1.2 | Killed ; job: state=TIMEOUT
Try next: compare MaxRSS with the limit (`sacct -j JOB -o State,MaxRSS,ReqMem`); ask for 1.5 times
    the memory, halve the data-loader workers, memory-map the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind
from mltd.runs.schedulers.ending import FROM_OUTSIDE, end_of
from mltd.runs.schedulers.quoting import size
from mltd.runs.state import RunState

from ..core.calibration import finding_confidence
from ..core.failure import failure_evidence, first_failure, uncaught, unresolved
from ..core.finding import Basis, Finding, Severity
from ..core.job_event import job_evidence
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from .messages import Lack, lacks, matching, phase_of, said
from .shortage import shown_bytes

_BARE_KILL = re.compile(
    r"^Killed\b|: tasks? \S+: Killed\b|exit(?:ed with)? (?:code|status):? (?:137|-9)\b|"
    r"exit ?code:? -9\b|Signal 9 \(SIGKILL\)|signal: [Kk]illed|Exited by signal 9\b|"
    r"return ?code:? ?=? ?-9\b|with signal SIGKILL|Signals\.SIGKILL|on signal 9\b|"
    r"KILLED BY SIGNAL: 9\b"
)
_CLOSING = re.compile(r"closing signal SIG(?:TERM|INT)")
_SENT = re.compile(
    r"CANCELLED|cancelled|TERM_|PBS|[Pp]reempt|[Ee]vict|Node failure|(?<!closing signal )SIGTERM|"
    r"death signal"
)
"""Who may have sent the signal. A launcher that closes the other ranks is no sender."""


@analyzer
@dataclass(frozen=True, slots=True)
class HostOutOfMemory:
    """Report the first message; a kill without a reason only if nothing else explains it."""

    id: ClassVar[str] = "host_oom"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("oom", "exception", "signal", "scheduler", "error")
    near: float = 0.9
    """Of the memory that the job may use: so much was used by a job that was killed for it."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look for messages first, for bare kills second."""
        found = [lack for lack in lacks(view, "host") if not lack.is_overcome]
        if found:
            yield self._stated(view, found)
            return
        killed = first_failure(view)
        if killed is None:
            # A launcher that only logs how its process ended.
            killed = next((p for p in unresolved(view) if _BARE_KILL.search(said(p))), None)
        if killed is not None and _CLOSING.search(said(killed)):
            # A launcher closes the other ranks before it says which one died.
            dead = (p for p in uncaught(view) if _BARE_KILL.search(said(p)))
            killed = next(dead, killed)
        if killed is not None and self._is_unexplained(view, killed):
            yield self._suspected(view, killed)

    def _stated(self, view: RunView, found: list[Lack]) -> Finding:
        first = found[0]
        states = [lack for lack in found if lack.shortage.how == "states"]
        best = states[0] if states else first
        basis = Basis.OBSERVATION if states else Basis.RESEARCH
        phase = phase_of(view, first.placed)
        steps = [f.placed.event.step for f in found if f.placed.event.step is not None]
        step = min(steps, default=None)
        request = next((f.shortage.request for f in found if f.shortage.request), None)
        title = "the host ran out of memory"
        if not states:
            title = "a data-loader worker was killed, as happens when host memory runs out"
        elif request is not None:
            title += f" when {shown_bytes(request)} were asked for"
        elif "kill" in best.placed.text.casefold():
            title = "the job was killed for using too much host memory"
        if step is not None:
            title += f", after step {step:.10g}"
        is_earlier = all(lack.is_earlier for lack in found)
        if is_earlier:
            title += " (in an earlier attempt)"
        elif used := _use(view):
            title += f" ({used})"
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.WARNING if is_earlier else Severity.CRITICAL,
            confidence=finding_confidence(basis, 0.95 if states else 0.65),
            basis=basis,
            evidence=tuple(dict.fromkeys((best.evidence, *(lack.evidence for lack in found[:3])))),
            first_step=step,
            details={
                "how": "states" if states else "worker",
                "phase": phase,
                **({"request": request} if request is not None else {}),
            },
        )

    def _is_unexplained(self, view: RunView, killed: PlacedEvent) -> bool:
        """A kill from which all else followed, sent by nobody that the log names."""
        if not _BARE_KILL.search(said(killed)) or view.state is RunState.FINISHED:
            return False
        if view.job is not None and end_of(view.job) in FROM_OUTSIDE:
            return False
        senders = matching(view, _SENT, EventKind.SCHEDULER, EventKind.SIGNAL, EventKind.ERROR)
        return next(senders, None) is None

    def _suspected(self, view: RunView, placed: PlacedEvent) -> Finding:
        step = placed.event.step
        where = f" after step {step:.10g}" if step is not None else ""
        share, used = _share(view), _use(view)
        # Sampled every half minute: the last rise is often missed.
        raw = 0.6 if share is None else 0.7 if share >= self.near else 0.6 if share > 0.5 else 0.4
        evidence = [failure_evidence(placed)]
        if view.job is not None and used:
            evidence.append(job_evidence(view.job))
        return Finding(
            id=self.id,
            title=f"the process was killed (signal 9){where} and nothing says why; most often "
            "the host's memory ran out" + (f" ({used})" if used else ""),
            severity=Severity.CRITICAL,
            confidence=finding_confidence(Basis.INFERENCE, raw),
            basis=Basis.INFERENCE,
            evidence=tuple(dict.fromkeys(evidence)),
            first_step=step,
            details={"how": "killed"},
        )


def _share(view: RunView) -> float | None:
    """The most memory that a task of the job used, of what it may use on a node."""
    job = view.job
    if job is None or job.max_rss is None or not job.node_memory:
        return None
    return job.max_rss / job.node_memory


def _use(view: RunView) -> str:
    """The same in words, as far as the scheduler knows it."""
    job = view.job
    if job is None or not job.is_over or job.node_memory is None:
        return ""
    if job.max_rss is None:
        return f"the job may use {size(job.node_memory)} on a node"
    return f"MaxRSS {size(job.max_rss)} of {size(job.node_memory)} on a node"

"""job_failed: the scheduler says that the job failed, and the log does not say why.

What it sees: a job that ended with an exit code other than 0, or by a signal that is neither a
    kill nor a crash, while its log holds no error that would explain it.
Why it matters: the reason was written elsewhere or nowhere: to another file, into a buffer that
    was never emptied, or by a part of the job script that is not the training.
Fires on:
    log: step 1 loss 2.0 | step 2 loss 1.9 | step 3 loss 1.8 ; job: state=FAILED, exit_code=3
    log: step 1 loss 2.0 | step 2 loss 1.9 ; job: state=FAILED, exit_code=127
Stays quiet:
    log: step 1 loss 2.0 | step 2 loss 1.9 ; job: state=COMPLETED, exit_code=0
    log: step 1 loss 2.0 | KeyError: 'a' ; job: state=FAILED, exit_code=1
    log: step 1 loss 2.0 | step 2 loss 1.9 ; job: state=TIMEOUT
Try next: read the job's error file and the end of the job script; run the last command of the
    script by hand; start Python with -u so that nothing stays in a buffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind
from mltd.runs.failure import is_terminal, remoteness
from mltd.runs.schedulers.ending import End, end_in_words
from mltd.runs.state import RunState

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.job_event import JobEvent, job_evidence
from ..core.registry import analyzer
from ..core.view import RunView
from .memo import open_events
from .progress import last_step
from .reports import reports

_MEANINGS = {
    2: "as programs end that do not understand their arguments",
    126: "as shells say of a file that is not executable",
    127: "as shells say of a command that is not found",
}
_OURS = (End.EXIT, End.SIGNAL)


@analyzer
@dataclass(frozen=True, slots=True)
class JobFailed:
    """Report an end that only the scheduler's record shows."""

    id: ClassVar[str] = "job_failed"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("scheduler",)

    def examine(self, view: RunView) -> Iterator[Finding]:
        """The exit code, unless something in the log explains it."""
        ends = [p for p in view.events_of(EventKind.SCHEDULER) if isinstance(p, JobEvent)]
        for placed in ends:
            if placed.end in _OURS and not _is_explained(view):
                yield self._report(view, placed)

    def _report(self, view: RunView, placed: JobEvent) -> Finding:
        job, step = placed.job, last_step(view)
        is_through = view.state is RunState.FINISHED
        meaning = _MEANINGS.get(job.exit_code or 0)
        where = f" at step {step:.10g}" if step is not None else ""
        if step is not None and view.planned_steps and view.planned_steps > step:
            where += f" of {view.planned_steps:.10g}"
        said = [p for p in open_events(view) if p.event.kind is EventKind.ERROR]
        errors = [p.evidence() for p in said if not isinstance(p, JobEvent)][-1:]
        return Finding(
            id=self.id,
            title=f"{end_in_words(job)}{f' ({meaning})' if meaning else ''}"
            + (" after the training was through" if is_through else where)
            + ", and the log does not say why",
            severity=Severity.WARNING if is_through else Severity.CRITICAL,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95),
            basis=Basis.OBSERVATION,
            evidence=(job_evidence(job), *errors),
            first_step=step,
            details={
                "exit_code": float(job.exit_code or 0),
                "signal": job.signal_name or "",
                "job": job.id,
                "unread": _unread(view, job.stderr) or _unread(view, job.stdout),
            },
        )


def _is_explained(view: RunView) -> bool:
    """True if the log shows an error of the run, or the death of one of its processes."""
    if any(not report.is_over for report in reports(view)):
        return True
    return any(
        is_terminal(placed.event) and remoteness(placed.event) < 3
        for placed in open_events(view)
        if not isinstance(placed, JobEvent)
    )


def _unread(view: RunView, path: str | None) -> str:
    """A file of the job that is not part of the run; else empty."""
    names = {source.path.rpartition("/")[2] for source in view.run.files}
    return path if path and path.rpartition("/")[2] not in names else ""

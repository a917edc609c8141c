"""Jobs that the scheduler could not start, or never will, by its own record."""

from __future__ import annotations

from mltd.runs.schedulers.ending import NO_OUTPUT, End, end_of
from mltd.runs.schedulers.job import Job
from mltd.runs.schedulers.waiting import never_starts

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.job_event import job_evidence
from ..core.view import RunView


def refused_job(view: RunView, identity: str) -> Finding | None:
    """The finding about a request that cannot be met; None where there is nothing to say."""
    job = view.run.job  # also if it has not begun to write this log
    if job is None:
        return None
    if never_starts(job):
        kind, what = "rejected", f"job {job.id} waits and will not start by itself"
    elif end_of(job) is End.LAUNCH:
        # A path that cannot be opened is stated; any other failure to start is not explained.
        kind = "rejected" if job.signal == NO_OUTPUT else "launch"
        what = f"job {job.id} could not be started"
    else:
        return None
    has_metrics = any(True for _ in view.all_curves())
    return Finding(
        id=identity,
        title=f"{what}{_why(job)}"[:300],
        severity=Severity.WARNING if has_metrics else Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.95),
        basis=Basis.OBSERVATION,
        evidence=(job_evidence(job),),
        details={"kind": kind, "job": job.id},
    )


def _why(job: Job) -> str:
    code = f" ({job.reason})" if job.reason else ""
    return f": {job.reason_words}{code}" if job.reason_words else code

"""What the scheduler says about a run's end, as an event beside those of its log.

It is put in the words that the same fact has where a log tells it, so that whoever looks for
such events needs to look in one place only.
"""

from __future__ import annotations

from dataclasses import dataclass

from mltd.runs.event import Event, EventKind
from mltd.runs.run import Run, SourceFile
from mltd.runs.schedulers.ending import End, end_in_words, end_of
from mltd.runs.schedulers.job import Job, JobState

from .finding import Evidence, EvidenceKind
from .sightings import last_logged
from .view import PlacedEvent

_AFTER_ALL = 2**31
"""A line behind those of any log: it is said when all else is over."""
_SIGNALS = {
    "SIGKILL": "Killed",
    "SIGTERM": "Terminated",
    "SIGSEGV": "Segmentation fault",
    "SIGBUS": "Bus error",
    "SIGABRT": "Aborted",
    "SIGILL": "Illegal instruction",
    "SIGFPE": "Floating point exception",
}
"""What a shell says about a process that a signal ended."""
_STATES = {
    End.TIMEOUT: JobState.TIMEOUT,
    End.PREEMPTED: JobState.PREEMPTED,
    End.NODE: JobState.NODE_FAIL,
    End.CANCELLED: JobState.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class JobEvent(PlacedEvent):
    """The end of a run's job: its place is the job, not a line of a file."""

    job: Job
    end: End

    def evidence(self, quote: str = "", line: int | None = None) -> Evidence:
        """The facts about the job, whatever part of them is meant."""
        return job_evidence(self.job)


def job_evidence(job: Job) -> Evidence:
    """A job as evidence: under its name, in one line."""
    return Evidence(EvidenceKind.JOB, f"job:{job.id}", job.quote)


def job_events(run: Run, job: Job | None) -> list[PlacedEvent]:
    """The end of a job that did not go well; nothing for any other."""
    end = end_of(job) if job is not None else None
    if job is None or end is None or end is End.COMPLETED:
        return []
    kind, title = _told(job, end)
    step = last_logged(run, "step")
    step = last_logged(run, "epoch") if step is None else step
    event = Event(kind, title, _AFTER_ALL, step=step, last_line=_AFTER_ALL)
    return [JobEvent(SourceFile(f"job:{job.id}", format="job"), event, job, end)]


def _told(job: Job, end: End) -> tuple[EventKind, str]:
    if end in _STATES:
        by = f" by {job.cancelled_by}" if job.cancelled_by else ""
        return EventKind.SCHEDULER, f"The scheduler's state is {_STATES[end]}{by}"
    if end is End.MEMORY:
        said = "Killed for using too much host memory: the scheduler's state is OUT_OF_MEMORY"
        return EventKind.OOM, said
    if end is End.SIGNAL and job.signal_name in _SIGNALS:
        return EventKind.SIGNAL, _SIGNALS[job.signal_name]
    kind = EventKind.ERROR if end is End.LAUNCH else EventKind.SCHEDULER
    return kind, f"The scheduler's record: {end_in_words(job)}"

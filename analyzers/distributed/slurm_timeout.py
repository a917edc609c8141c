"""slurm_timeout: the job was stopped at its time limit before training was through.

What it sees: what Slurm, LSF, PBS, Grid Engine, Flux or Kubernetes write when a time limit ends a
    job (`CANCELLED ... DUE TO TIME LIMIT`, `TERM_RUNLIMIT`, `walltime ... exceeded`), and the
    scheduler's own record of it (states TIMEOUT and DEADLINE).
Why it matters: everything since the last checkpoint is lost, and the same request ends in the
    same way.
Fires on:
    log: slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***
    log: step 10 loss 2.1 | TERM_RUNLIMIT: job killed after reaching LSF run time limit.
    log: =>> PBS: job killed: walltime 3622 exceeded limit 3600
    log: JobState=TIMEOUT Reason=TimeLimit
    log: step 1/9 loss 2.0 | step 2/9 loss 1.9 ; job: state=TIMEOUT, time_limit=3600, elapsed=3612
Stays quiet:
    log: slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-01-01T00:00:00 ***
    log: #SBATCH --time=24:00:00 | step 1 loss 2.0 | step 2 loss 1.9 | Training completed
    log: Episode 3: time limit reached | Episode 4: time limit reached
    log: step 1/2 loss 2.0 | step 2/2 loss 1.9 ; job: state=COMPLETED, time_limit=3600, elapsed=99
Try next: resume from the last checkpoint with a longer --time; save on a signal before the limit
    (--signal=USR1@300); save more often than the limit cuts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.schedulers.job import JobState

from ..core.finding import Finding, Severity
from ..core.job_event import JobEvent
from ..core.registry import analyzer
from ..core.view import RunView
from .course import course
from .outside import chosen, report
from .progress import spoken
from .verdicts import Ended, Statement


@analyzer
@dataclass(frozen=True, slots=True)
class SlurmTimeout:
    """Report the limit that ended the run, and how far it was from its end."""

    id: ClassVar[str] = "slurm_timeout"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("scheduler", "signal", "exception")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """What the scheduler said, in the log or by itself."""
        statement = chosen(view, Ended.TIMEOUT)
        if statement is not None:
            job = statement.placed.job if isinstance(statement.placed, JobEvent) else None
            is_deadline = job is not None and job.state is JobState.DEADLINE
            what = f"was stopped at its {'deadline' if is_deadline else 'time limit'}"
            rest = _rest(view, statement)
            yield report(view, self.id, statement, what, Severity.CRITICAL, also=rest)


def _rest(view: RunView, statement: Statement) -> str:
    """How much was left to do."""
    way = course(view)
    if statement.is_over or way is None or way.rest <= 0 or way.total <= 0:
        return ""
    return (
        f"; {way.last / way.total:.0%} was done, the remaining {way.rest:.10g} {way.axis}s need "
        f"about {spoken(way.needed)} more"
    )

"""slurm_cancelled: the job was cancelled by somebody, or ended by a signal of unknown origin.

What it sees: Slurm's `CANCELLED AT ...` without a reason, `DUE to SIGNAL Terminated`, state
    `CANCELLED by UID` (in the log, or in the scheduler's record of the job), LSF's TERM_OWNER and
    TERM_ADMIN, jobs deleted in PBS or HTCondor; without any of these a SIGTERM, SIGHUP or exit
    code 143 whose sender the log does not name.
Why it matters: the training itself did not fail; the scheduler's records say who ended it.
Fires on:
    log: slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-01T00:00:00 ***
    log: TERM_OWNER: job killed by owner. | Exited with exit code 143.
    log: step 5 loss 2.0 | [rank: 0] Received SIGTERM: 15
    log: step 1 loss 2.0 | step 2 loss 1.9 ; job: state=CANCELLED, cancelled_by=anna
Stays quiet:
    log: slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***
    log: RuntimeError: shapes do not match | srun: Job step aborted: Waiting up to 32 seconds
    log: ValueError: bad value | slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-01-01 ***
Try next: `sacct -j JOB --format=JobID,State,ExitCode,Elapsed,Timelimit` tells a person (CANCELLED
    by UID) from a limit (TIMEOUT) and a preemption (PREEMPTED); resume from the last checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.finding import Finding, Severity
from ..core.job_event import JobEvent
from ..core.registry import analyzer
from ..core.view import RunView
from .outside import chosen, report
from .verdicts import SIGNAL, Ended, Statement


@analyzer
@dataclass(frozen=True, slots=True)
class SlurmCancelled:
    """Report an end that somebody else decided on."""

    id: ClassVar[str] = "slurm_cancelled"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("scheduler", "signal", "exception")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """A cancellation without a stated reason, else a signal from outside."""
        statement = chosen(view, Ended.CANCELLED)
        if statement is None or (statement.is_over and statement.authority == SIGNAL):
            return
        yield report(view, self.id, statement, _what(statement), Severity.WARNING)


def _what(statement: Statement) -> str:
    if statement.is_hangup:
        return "was ended by SIGHUP: the terminal or connection that it was started from closed,"
    if statement.authority == SIGNAL:
        return "was ended from outside by SIGTERM, sender unknown,"
    if statement.user:
        return f"was cancelled by {_who(statement)}"
    title = statement.placed.event.title
    if "OWNER" in title or "owner" in title:
        return "was killed by its owner"
    if "ADMIN" in title or "admin" in title:
        return "was killed by an administrator"
    return "was cancelled, no reason given,"


def _who(statement: Statement) -> str:
    job = statement.placed.job if isinstance(statement.placed, JobEvent) else None
    if job is not None and statement.user == job.user:
        return f"its owner {statement.user}"
    if statement.user == "root":
        return "root, an administrator or the scheduler itself,"
    return f"user {statement.user}"

"""slurm_preempted: the job had to make room for another one, or its machine was taken back.

What it sees: `DUE TO PREEMPTION`, `DUE TO JOB REQUEUE`, state PREEMPTED, LSF's TERM_PREEMPT,
    evicted pods, spot machines that were reclaimed, handlers that requeue the job.
Why it matters: it is no fault of the training, but what no checkpoint holds is lost, and a
    restart that does not resume properly shows in the loss.
Fires on:
    log: slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO PREEMPTION ***
    log: TERM_PREEMPT: job killed after preemption.
    log: step 5 loss 2.0 | Spot instance interruption notice received
    log: step 1 loss 2.0 | step 2 loss 1.9 ; job: state=PREEMPTED
Stays quiet:
    log: slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***
    log: preemptible: true | step 1 loss 2.0 | step 2 loss 1.9 | step 3 loss 1.8
    log: SLURM auto-requeueing enabled. Setting signal handlers. | step 1 loss 2 | step 2 loss 1
Try next: see that the run resumed from its last checkpoint; save on SIGTERM; save more often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.finding import Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .outside import chosen, report
from .verdicts import Ended


@analyzer
@dataclass(frozen=True, slots=True)
class SlurmPreempted:
    """Report that the job was pushed out."""

    id: ClassVar[str] = "slurm_preempted"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("scheduler", "exception")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """What the scheduler or the machine's owner said."""
        statement = chosen(view, Ended.PREEMPTED)
        if statement is not None:
            what = "was preempted or requeued"
            yield report(view, self.id, statement, what, Severity.WARNING)

"""preemption: the scheduler or the owner of the machine took the resources back.

What it is: jobs of low priority and spot machines are ended or requeued when others need them.
Told apart by: `DUE TO PREEMPTION`, `JOB REQUEUE`, PREEMPTED, TERM_PREEMPT, eviction and spot
    notices. A SIGTERM alone may also come from a person or at a limit.
Try next: save on SIGTERM, let the job be requeued, see that it resumes where it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..distributed.remedies import ask_for_record, resume, save_more_often
from ..distributed.verdicts import SIGNAL, Ended, verdict


@cause
@dataclass(frozen=True, slots=True)
class Preemption:
    """Weighs the scheduler's words; a bare signal is a weak hint."""

    id: ClassVar[str] = "preemption"
    explains: ClassVar[tuple[str, ...]] = ("slurm_preempted", "slurm_cancelled", "rank_failure")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A stated reason is enough."""
        for finding in case.all("slurm_preempted"):
            is_notice = finding.number("authority") <= SIGNAL
            yield case.clue(0.6 if is_notice else 0.98, finding.evidence[0], states=not is_notice)
        for finding in case.all("rank_failure"):
            is_bare = finding.is_alarm and not finding.number("has_own_error")
            if is_bare and finding.details.get("signal") == "SIGKILL":
                yield case.because(finding, 0.16)
        ended = verdict(case.view)
        cancelled = case.get("slurm_cancelled")
        if ended is None or cancelled is None or ended.ended is not Ended.CANCELLED:
            return
        if (
            not ended.user
            and not ended.is_hangup
            and not any(word in cancelled.title for word in ("owner", "administrator"))
        ):
            yield case.because(cancelled, 0.22 if ended.authority == SIGNAL else 0.16)

    def issue(self, case: Case) -> str:
        """One sentence."""
        if case.get("slurm_preempted") is not None:
            return "the job was preempted: its resources went to another job or back to their owner"
        return "the job may have been preempted: it was ended from outside without a reason"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Resume, save on the signal, save often, another queue."""
        yield resume(case, self.id)
        yield Fix(
            addresses=self.id,
            change="save a checkpoint when SIGTERM comes, and let the job be requeued",
            example="#SBATCH --requeue --open-mode=append --signal=TERM@120\n"
            "signal.signal(signal.SIGTERM, lambda *_: trainer.request_save())",
            expected_impact="a preemption costs minutes instead of the checkpoint interval",
            verify="`scontrol requeue JOB` on a test job: it resumes at the step of the signal",
            if_it_fails="ask for the partition's grace time (scontrol show partition): it must be "
            "longer than a save",
            is_quick=True,
        )
        yield save_more_often(case, self.id)
        yield Fix(
            addresses=self.id,
            change="run the rest where jobs are not preempted, if it is short",
            example="sbatch --qos=normal --partition=PARTITION job.sh",
            expected_impact="no further interruption; the wait in the queue is longer",
            verify="`scontrol show partition` has PreemptMode=OFF for it",
            if_it_fails="split the training into jobs shorter than the usual time to preemption",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """The scheduler's record."""
        yield ask_for_record(case)

"""cancelled_by_person: somebody ended the job on purpose, or closed its terminal.

What it is: scancel, bkill, qdel, an administrator, or a login session that took its processes
    with it.
Told apart by: `CANCELLED by UID`, TERM_OWNER, `deleted at request of`; Slurm writes `CANCELLED
    AT ...` without a reason for scancel. Limits and preemptions give their reason.
Try next: ask the scheduler's records; if it was not meant, resume from the last checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..distributed.remedies import ask_for_record, resume, signal_before_end
from ..distributed.verdicts import SIGNAL, Ended, Statement, verdict
from ..resources.stall import BEFORE_END

_STATED = (
    "owner",
    "administrator",
    "by user",
    "OWNER",
    "ADMIN",
    "request of",
    "condor_rm",
    "scancel",
)


@cause
@dataclass(frozen=True, slots=True)
class CancelledByPerson:
    """Weighs whether the scheduler names a person."""

    id: ClassVar[str] = "cancelled_by_person"
    explains: ClassVar[tuple[str, ...]] = ("slurm_cancelled", "rank_failure")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A name is enough; no reason at all is what scancel leaves."""
        cancelled, ended = case.get("slurm_cancelled"), _ended(case)
        if cancelled is None or ended is None:
            return
        said = cancelled.title + ended.placed.event.title
        if ended.user or ended.is_hangup or any(words in said for words in _STATED):
            yield case.clue(0.95, cancelled.evidence[0], states=True)
        elif ended.authority == SIGNAL:
            yield case.clue(0.35, cancelled.evidence[0])
        else:
            yield case.clue(0.75, cancelled.evidence[0])
        for silence in case.all("stall"):
            if silence.number(BEFORE_END):  # whoever ended it ended what had hung
                yield case.clue(-0.75, silence.evidence[0])

    def issue(self, case: Case) -> str:
        """One sentence."""
        ended = _ended(case)
        if ended is not None and ended.is_hangup:
            return "the terminal or connection from which the run was started was closed"
        if ended is not None and ended.authority == SIGNAL:
            return "somebody or something ended the run with a signal; the log does not say who"
        by = f"by {ended.user}" if ended is not None and ended.user else "by a person or a script"
        return f"the job was cancelled {by}, not by an error of its own"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Resume; make it survive the next time."""
        yield resume(case, self.id)
        ended = _ended(case)
        if ended is not None and (ended.is_hangup or ended.authority == SIGNAL):
            yield Fix(
                addresses=self.id,
                change="start the run so that it outlives the terminal",
                example="sbatch job.sh   # or: tmux new -s train 'python train.py'",
                expected_impact="a closed connection no longer ends the run",
                verify="log out and in again: the log still grows",
                if_it_fails="if it ends again, systemd ends user processes at logout: "
                "loginctl enable-linger",
                is_quick=True,
            )
        yield Fix(
            addresses=self.id,
            change="ask the scheduler who cancelled it, and when",
            example="sacct -j JOB --format=JobID,State%30,ExitCode,Elapsed,Timelimit,End",
            expected_impact="names the user id, or shows a limit or preemption instead",
            verify="the state reads `CANCELLED by UID`",
            if_it_fails="ask the cluster's operators for the controller's log of that minute",
            is_quick=True,
        )
        yield signal_before_end(self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """The scheduler's record."""
        yield ask_for_record(case)


def _ended(case: Case) -> Statement | None:
    ended = verdict(case.view)
    return ended if ended is not None and ended.ended is Ended.CANCELLED else None

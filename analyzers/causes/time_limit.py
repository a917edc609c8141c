"""time_limit: the job asked for less time than the training takes.

What it is: the scheduler ends a job when its wall-clock limit is over, whatever it is doing.
Told apart by: the scheduler's reason (`DUE TO TIME LIMIT`, TIMEOUT, TERM_RUNLIMIT, walltime), or
    a pace at which the rest takes longer than the time that is left. A cancellation without a
    reason is a person's; a preemption says so.
Try next: resume with a longer --time, save before the limit, chain jobs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..distributed.progress import clock, pace, spoken, time_limit
from ..distributed.remedies import (
    ask_for_record,
    end_workers_early,
    extend_running,
    longer_limit,
    resume,
    save_more_often,
    signal_before_end,
)
from ..distributed.verdicts import MESSAGE, SIGNAL, Ended, verdict
from ..resources.stall import BEFORE_END

NEAR = 0.97
"""Share of the limit after which an unexplained end is probably the limit."""


@cause
@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Weighs the scheduler's words, else how near the limit was."""

    id: ClassVar[str] = "time_limit"
    explains: ClassVar[tuple[str, ...]] = (
        "slurm_timeout", "time_limit_ahead", "slurm_cancelled", "rank_failure", "nccl_timeout",
        "orchestration_error",
    )  # fmt: skip
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A stated reason is enough; an end at the limit is a strong hint."""
        for finding in case.all("time_limit_ahead"):
            for shown in finding.evidence[:2]:
                yield case.clue(0.8, shown)
        for finding in case.all("slurm_timeout"):
            yield case.clue(0.5 if finding.number("is_over") else 0.98, finding.evidence[0],
                            states=True)  # fmt: skip
        for silence in case.all("stall"):
            if silence.number(BEFORE_END):  # no limit is long enough for a run that hangs
                yield case.clue(-0.75, silence.evidence[0])
        for finding in case.all("orchestration_error"):
            if finding.details.get("root") == "time":
                yield case.clue(0.85, finding.evidence[0])
        ended = verdict(case.view)
        if ended is None or ended.ended is not Ended.CANCELLED or ended.user or ended.is_hangup:
            return
        cancelled = case.get("slurm_cancelled")
        if cancelled is None or "owner" in cancelled.title or "administrator" in cancelled.title:
            return
        limit, speed = time_limit(case.view), pace(case.view)
        if limit is not None and speed is not None:
            job = case.view.job
            elapsed = speed.elapsed if job is None or job.elapsed is None else job.elapsed
            share = elapsed / limit.seconds
            if share >= NEAR:
                yield case.clue(0.7, limit.evidence)
            elif share < 0.8:
                yield case.clue(-0.5, limit.evidence)
        yield case.because(cancelled, 0.25 if ended.authority == SIGNAL else 0.2)

    def issue(self, case: Case) -> str:
        """One sentence with the limit if it is known."""
        limit = time_limit(case.view)
        known = f" of {clock(limit.seconds)}" if limit is not None else ""
        ahead = case.get("time_limit_ahead")
        if ahead is not None:
            short = spoken(ahead.number("needed") - ahead.number("left"))
            return f"the job's time limit{known} is about {short} too short at the present pace"
        ended = verdict(case.view)
        is_stated = ended is not None and ended.authority >= MESSAGE
        verb = (
            "is" if is_stated and ended is not None and ended.ended is Ended.TIMEOUT else "may be"
        )
        return f"the job's time limit{known} {verb} shorter than the training"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """More time, a warning before the end, more checkpoints, resume."""
        if any(f.details.get("system") == "dask" for f in case.all("orchestration_error")):
            yield end_workers_early(self.id)
        if case.has("time_limit_ahead"):
            yield from self._while_it_runs(case)
            return
        yield longer_limit(case, self.id)
        yield resume(case, self.id)
        yield signal_before_end(self.id)
        yield save_more_often(case, self.id)

    def _while_it_runs(self, case: Case) -> Iterator[Fix]:
        if (extended := extend_running(case, self.id)) is not None:
            yield extended
        yield longer_limit(case, self.id)
        yield signal_before_end(self.id)
        yield save_more_often(case, self.id)
        yield resume(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """The scheduler's record."""
        yield ask_for_record(case)

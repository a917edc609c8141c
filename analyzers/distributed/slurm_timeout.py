"""slurm_timeout: the job is stopped at its time limit before training was through, or will be.

What it sees: what Slurm, LSF, PBS, Grid Engine, Flux or Kubernetes write when a time limit ends a
    job (`CANCELLED ... DUE TO TIME LIMIT`, `TERM_RUNLIMIT`, `walltime ... exceeded`, state
    TIMEOUT); and, while a run goes on, a rest that cannot be done in the time left.
Why it matters: everything since the last checkpoint is lost, and the same request ends in the
    same way.
Fires on:
    log: slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***
    log: step 10 loss 2.1 | TERM_RUNLIMIT: job killed after reaching LSF run time limit.
    log: =>> PBS: job killed: walltime 3622 exceeded limit 3600
    log: JobState=TIMEOUT Reason=TimeLimit
Stays quiet:
    log: slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-01-01T00:00:00 ***
    log: #SBATCH --time=24:00:00 | step 1 loss 2.0 | step 2 loss 1.9 | Training completed
    log: Episode 3: time limit reached | Episode 4: time limit reached
Try next: resume from the last checkpoint with a longer --time; save on a signal before the limit
    (--signal=USR1@300); save more often than the limit cuts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.state import RunState

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .outside import chosen, report
from .progress import last_step, pace, remaining_steps, spoken, time_limit
from .verdicts import Ended, verdict


@analyzer
@dataclass(frozen=True, slots=True)
class SlurmTimeout:
    """Report the limit that ended the run, or the one that it will run into."""

    id: ClassVar[str] = "slurm_timeout"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("scheduler", "signal", "exception")
    margin: float = 1.1
    """The rest must need this much more time than is left: step times vary."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """What was said first; only without it what is to be expected."""
        statement = chosen(view, Ended.TIMEOUT)
        if statement is not None:
            yield report(
                view, self.id, statement, "was stopped at its time limit", Severity.CRITICAL
            )
        elif verdict(view) is None and view.state is RunState.RUNNING:
            yield from self._expect(view)

    def _expect(self, view: RunView) -> Iterator[Finding]:
        limit, speed, rest = time_limit(view), pace(view), remaining_steps(view)
        step = last_step(view)
        if limit is None or speed is None or not rest or step is None:
            return
        setting, seconds = limit
        left = seconds - speed.elapsed
        needed = rest * speed.seconds_per_step
        if left <= 0 or needed <= self.margin * left:
            return
        reached = step + left / speed.seconds_per_step
        evidence = Evidence(
            EvidenceKind.SERIES,
            f"step@{step:.10g}",
            f"{speed.seconds_per_step:.3g} s a step, {spoken(speed.elapsed)} since the first line",
        )
        yield Finding(
            id=self.id,
            title=f"{rest:.10g} steps are left and need {spoken(needed)}, but the time limit is in "
            f"{spoken(left)}: the job will be stopped near step {reached:.0f}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.RESEARCH, 0.75),
            basis=Basis.RESEARCH,
            evidence=(evidence, setting.evidence),
            first_step=step,
            details={"needed": needed, "left": left, "expected": 1.0},
        )

"""time_limit_ahead: at its present pace the job reaches its time limit before its last step.

What it sees: a job that runs, its time limit (from the scheduler, else from the settings), the
    steps or epochs that are left, and the pace: by the log's time stamps with the pauses in them,
    else by printed step times, else by how long the job has run. It needs a hundredth of the plan
    to be done and a pace that holds still enough for the gap.
Why it matters: the job will be stopped in the middle, and all since its last checkpoint is lost;
    now there is still time to save, to ask for more, or to prepare the next job.
Fires on:
    train/loss: 4>2~0.05*400 ; step_time: 2~0.1*400 ; config: max_steps=5000 ;
      job: state=RUNNING, time_limit=3600, elapsed=900
    train/loss: 4>2~0.05*400 ; step_time: 2~0.1*400 ; config: max_steps=1500 ;
      job: state=RUNNING, time_limit=2400, elapsed=900
Stays quiet:
    train/loss: 4>2~0.05*400 ; step_time: 2~0.1*400 ; config: max_steps=1500 ;
      job: state=RUNNING, time_limit=7200, elapsed=900
    train/loss: 4>2~0.05*40 ; step_time: 2~0.1*40 ; config: max_steps=5000 ;
      job: state=RUNNING, time_limit=3600, elapsed=90
    train/loss: 4>2~0.05*400 ; step_time: 2~0.1*400 ; config: max_steps=5000 ;
      job: state=COMPLETED, time_limit=3600, elapsed=900
Try next: have it save before the limit (--signal=B:USR1@300 and a trap), resume in a job with a
    longer --time, or ask the operators to raise the limit of the running one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.job_word import last_written
from mltd.runs.state import RunState

from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .course import JOB, Course, course
from .progress import Limit, pace, spoken, time_limit
from .saving import Saves, saves
from .verdicts import verdict


@analyzer
@dataclass(frozen=True, slots=True)
class TimeLimitAhead:
    """Report the limit that a running job will not get past."""

    id: ClassVar[str] = "time_limit_ahead"
    roles: ClassVar[tuple[str, ...]] = ("step_time",)
    events: ClassVar[tuple[str, ...]] = ("checkpoint",)
    least_share: float = 0.01
    """Of the plan, made before anything is foretold."""
    least_of_limit: float = 0.02
    """Of the limit, over which the pace was measured."""
    least_spread: float = 0.05
    """Even the steadiest pace may change by this."""
    least_beyond: float = 0.5
    """Deviations of the pace by which the limit is missed; at less, one in five is met after all
    (simulated trainings with noise, drift and evaluations)."""
    most_spread: float = 0.5
    """A pace that varies more tells only what its fastest stretch would not reach."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Compare what is left to do with the time that is left."""
        if view.state is not RunState.RUNNING or verdict(view) is not None:
            return
        limit, way = time_limit(view), course(view)
        if limit is None or way is None or way.rest <= 0:
            return
        left = _left(view, limit)
        if left is None or not left > 0 or not self._is_known(way, limit):
            return
        sureness = self._sureness(way, left)
        if sureness is not None:
            yield self._report(view, way, limit, left, sureness)

    def _is_known(self, way: Course, limit: Limit) -> bool:
        return way.share >= self.least_share and way.elapsed >= self.least_of_limit * limit.seconds

    def _sureness(self, way: Course, left: float) -> float | None:
        """How far beyond the limit the end is, in deviations of the pace; None if it may be met."""
        spread = max(way.spread, self.least_spread)
        beyond = (way.needed / left - 1.0) / spread
        if beyond < self.least_beyond:
            return None
        if way.spread > self.most_spread and way.rest * way.fastest <= left:
            return None
        return min(1.0, (beyond - self.least_beyond) / 2.5)

    def _report(
        self, view: RunView, way: Course, limit: Limit, left: float, sureness: float
    ) -> Finding:
        reached = way.last + left / way.seconds
        kept = saves(view)
        lost = kept.lost_at(reached, way.first)
        is_guess = way.by == JOB
        basis = Basis.INFERENCE if is_guess else Basis.RESEARCH
        sure = (0.5 if is_guess else 0.65) + 0.2 * sureness
        curve = view.curve("train/loss")
        shown = Evidence(
            EvidenceKind.SERIES,
            f"{curve.name if curve is not None else way.axis}@{way.last:.10g}",
            f"{spoken(way.seconds)} a {way.axis} (by {way.by}, over {spoken(way.elapsed)}, "
            f"give or take {way.spread:.0%}); {way.rest:.10g} {way.axis}s left",
        )
        evidence = (shown, limit.evidence, *(e.evidence() for e in kept.placed[-1:]))
        return Finding(
            id=self.id,
            title=_title(view, way, left, reached, kept, lost),
            severity=Severity.WARNING,
            confidence=round(sure, 3),  # simulated for itself: the common map knows no forecasts
            basis=basis,
            evidence=evidence,
            details={
                "needed": way.needed,
                "left": left,
                "reached": reached,
                "lost_steps": lost if lost is not None else -1.0,
                "job": view.job.id if view.job is not None else "",
            },
        )


def _left(view: RunView, limit: Limit) -> float | None:
    """Seconds from the log's last line up to the limit; None if the job is past it, or unknown."""
    job = view.job
    if job is None:
        speed = pace(view)
        return limit.seconds - speed.elapsed if speed is not None else None
    if not job.is_running:
        return None
    since = last_written(view.run) or job.asked or view.now
    left = job.time_left_at(since)
    if left is None:
        return limit.seconds - job.elapsed if job.elapsed is not None else None
    return left if left > view.now - since else None


def _title(
    view: RunView, way: Course, left: float, reached: float, kept: Saves, lost: float | None
) -> str:
    name = f"job {view.job.id}" if view.job is not None else "the job"
    job = view.job
    at = job.limit_at if job is not None else None
    when = f" (at {_moment(at, view.now)})" if at is not None and math.isfinite(at) else ""
    near = f"{reached:.0f}" if way.axis == "step" else f"{reached:.3g}"
    return (
        f"{way.rest:.10g} {way.axis}s are left and need {spoken(way.needed)}, but the time limit "
        f"is in {spoken(left)}{when}: {name} will be stopped near {way.axis} {near} of "
        f"{way.total:.10g}; {kept.shown(way.seconds, lost)}"
    )


def _moment(at: float, now: float) -> str:
    """The time on the clock of this machine, with the day if it is not today."""
    local = time.localtime(at)
    is_today = local[:3] == time.localtime(now)[:3]
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", local)

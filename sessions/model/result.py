"""What came out of an experiment: every metric before and after, and the verdict."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from .base import Part


class Outcome(StrEnum):
    """How an experiment ended, by the criteria fixed before."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


class MetricChange(Part):
    """One metric of both runs over the window that they share."""

    name: str
    role: str | None = None
    axis: str = "step"
    """step, epoch, tokens, samples or index; `final` if only the last windows can be compared."""
    window: tuple[float, float] | None = None
    """The stretch of the axis over which values are taken."""
    before: float | None = None
    after: float | None = None
    """Levels over the window; None if that run lacks the metric, NaN if it is not finite."""
    change: float | None = None
    """Relative: (after - before) / |before|."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the relative change; None if there are too few points for one."""
    effect: float | None = None
    """Difference of the levels in units of their pooled spread."""
    points: tuple[int, int] = (0, 0)
    """Points of each run in the window."""
    needed: int = 0
    """How many more points it would take to say something; 0 if there are enough."""
    parts_at: float | None = None
    """Where on the axis the runs begin to differ for good; None if they do not."""
    smaller_is_better: bool | None = None

    @property
    def improvement(self) -> float | None:
        """Relative change for the better; None if no direction is better, or nothing is known."""
        if self.change is None or self.smaller_is_better is None:
            return None
        return -self.change if self.smaller_is_better else self.change

    @property
    def improvement_interval(self) -> tuple[float, float] | None:
        """95 % interval of the improvement, the lower end first."""
        if self.low is None or self.high is None or self.smaller_is_better is None:
            return None
        return (-self.high, -self.low) if self.smaller_is_better else (self.low, self.high)


class Cost(Part):
    """What the change costs in time; numbers are ratios after / before, None if not known."""

    seconds: tuple[float | None, float | None] = (None, None)
    """Wall time that each run took over the shared stretch."""
    throughput: tuple[float | None, float | None] = (None, None)

    @property
    def time_ratio(self) -> float | None:
        """Above 1: it became slower."""
        return _ratio(self.seconds)

    @property
    def throughput_ratio(self) -> float | None:
        """Below 1: it became slower."""
        return _ratio(self.throughput)


def _ratio(pair: tuple[float | None, float | None]) -> float | None:
    before, after = pair
    return after / before if before and after is not None else None


class CriterionResult(Part):
    """What became of one criterion."""

    criterion: str
    """In words."""
    outcome: Outcome
    said: str
    """The numbers that decide it, in a sentence."""
    is_guard: bool = False


class BeforeAfter(Part):
    """The whole comparison of two runs."""

    at: datetime
    before: str
    after: str
    """Ids of the session's runs, or names where there is no session."""
    outcome: Outcome
    summary: str
    """The verdict in one sentence, with its numbers."""
    criteria: tuple[CriterionResult, ...] = ()
    changes: tuple[MetricChange, ...] = ()
    """The target first, then the guarded ones, then the others."""
    cost: Cost = Cost()
    needed: int = 0
    """How many more points of the target it takes to decide; 0 if it is decided."""
    excludes_success: bool = False
    """The whole interval of the target is short of its criterion: more points will not help."""
    is_preliminary: bool = False
    """The run after the change was not known to be over: the verdict moves no hypothesis."""
    run_state: str = ""
    """State of that run when it was compared; empty if nobody looked."""

    @property
    def preliminary(self) -> str:
        """Why the verdict is not final, in a few words; empty if it is."""
        if not self.is_preliminary:
            return ""
        return f"preliminary: {_NOT_OVER.get(self.run_state, _STILL_GOING)}"


_STILL_GOING = "the run is still going"
_NOT_OVER = {
    "stalled": "the run has stalled, and may go on",
    "unknown": "the log does not say whether the run is over",
}

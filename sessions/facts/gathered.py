"""What was read from a run: circumstances, timeline, and what artifacts there are.

Plain values: whoever shows them needs no numpy.
"""

from __future__ import annotations

from pydantic import Field

from ..model.base import Part
from ..model.constraints import Fact, TimelineEntry, Topic

NO_TARGET = "no target stated"
"""Begins a fact about targets that knows only what is watched, or how long the run is to be."""

EXPENSES = frozenset({"throughput", "step_time", "data_time", "memory", "mfu"})
"""Ends of roles that say what a run costs, not how well it does."""


class SeenLog(Part):
    """A log, and how much of it was read."""

    name: str
    path: str = ""
    format: str = ""
    lines: int = 0
    generations: int = 1
    """How often the file was seen to begin."""


class SeenMetric(Part):
    """A metric that the run logs."""

    name: str
    role: str = ""
    split: str = ""
    """train, val or test; empty if nothing says so."""
    points: int = 0


class Seen(Part):
    """Which artifacts of a run there are, counted."""

    run: str = ""
    """Name of the run."""
    state: str = ""
    """running, finished, failed, stalled or unknown."""
    state_reason: str = ""
    logs: tuple[SeenLog, ...] = ()
    metrics: tuple[SeenMetric, ...] = ()
    """The first hundred, those with a role before the others."""
    metric_count: int = 0
    points: int = 0
    """Of all metrics together."""
    settings: int = 0
    """How many settings are known, from files and from what the log printed."""
    config_files: tuple[str, ...] = ()
    """Names of the configuration files beside the log."""
    checkpoint_files: int = 0
    checkpoints_logged: int = 0
    """How often the log says that one was saved."""
    gradients: tuple[str, ...] = ()
    """Names of the series that tell about gradients."""
    seeds: tuple[str, ...] = ()
    """Settings that are seeds, as `name = value`."""
    restarts: int = 0
    """How often the log says that the training began or was resumed, or began anew itself."""
    first_step: float | None = None
    last_step: float | None = None
    axis: str = "step"
    """What the run counts in: step, epoch, tokens, samples, or index for nothing."""

    @property
    def lines(self) -> int:
        """Lines of all logs."""
        return sum(log.lines for log in self.logs)

    def names_of(self, *splits: str) -> tuple[str, ...]:
        """Names of the metrics that were measured on one of these splits; speed is none of them."""
        return tuple(
            metric.name
            for metric in self.metrics
            if metric.split in splits and metric.role.rpartition("/")[2] not in EXPENSES
        )

    def with_role(self, *roles: str) -> tuple[str, ...]:
        """Names of the metrics with one of these roles."""
        return tuple(metric.name for metric in self.metrics if metric.role in roles)


class Gathered(Part):
    """Everything that a triage can be pre-filled with."""

    facts: dict[Topic, Fact] = Field(default_factory=dict)
    timeline: tuple[TimelineEntry, ...] = ()
    seen: Seen = Seen()

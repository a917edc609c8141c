"""Experiments: one change, its criteria, the run that came out of it, and the verdict."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .base import Part
from .criterion import Criterion
from .result import BeforeAfter


class ExperimentStatus(StrEnum):
    """Where an experiment stands."""

    PLANNED = "planned"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """True if nothing more is expected of it."""
        return self in (self.PASSED, self.FAILED, self.CANCELLED)


class Variable(StrEnum):
    """What an experiment isolates; the data pipeline is looked at before the model."""

    DATA = "data"
    MODEL = "model"
    OPTIMISER = "optimiser"
    OTHER = "other"


class Purpose(StrEnum):
    """Why it is run."""

    FIX = "fix"
    """The change should cure the incident, or show what causes it."""
    REPRODUCTION = "reproduction"
    """Nothing but the size of the data changes: it should fail again."""


class Experiment(Part):
    """A test of one hypothesis by one change; the command is shown and copied, never run."""

    id: str
    """E1, E2, ..."""
    hypothesis: str
    change: str = Field(min_length=1)
    variable: Variable = Variable.OTHER
    purpose: Purpose = Purpose.FIX
    command: str = ""
    success: tuple[Criterion, ...] = ()
    """All must hold; empty: the default bar on the target metric."""
    failure: tuple[Criterion, ...] = ()
    """One that holds is enough."""
    guards: tuple[Criterion, ...] = ()
    """Metrics that may not suffer; empty: every shared metric that has a better direction."""
    status: ExperimentStatus = ExperimentStatus.PLANNED
    baseline: str = ""
    """Id of the run before the change; empty: the run of the hypothesis."""
    run: str = ""
    """Id of the run that came out of it."""
    is_run_over: bool = False
    """A person said that this run is over, whatever its log shows."""
    result: BeforeAfter | None = None
    rollback: str = ""
    expected_impact: str = ""
    verify: str = ""
    if_it_fails: str = ""
    created: datetime
    started: datetime | None = None
    ended: datetime | None = None

"""Pairs of runs, and what is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from mltd.runs.run import Run
from mltd.sessions.comparison.compare import compare
from mltd.sessions.model.criterion import parse_criteria
from mltd.sessions.model.experiment import Experiment, Purpose
from mltd.sessions.model.result import BeforeAfter, MetricChange
from tests.analyzers.made import make_run

Values = npt.NDArray[np.float64]
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def remembering(count: int, memory: float, random: np.random.Generator) -> Values:
    """Noise of variance 1 whose points remember the one before them: AR(1)."""
    fresh = random.normal(size=count + 100) * np.sqrt(1 - memory**2)
    noise = np.empty_like(fresh)
    noise[0] = fresh[0]
    for at in range(1, len(fresh)):
        noise[at] = memory * noise[at - 1] + fresh[at]
    settled: Values = noise[100:]
    return settled


def curve(
    level: float, count: int = 1000, noise: float = 0.05, seed: int = 0, fall: float = 3.0
) -> Values:
    """A loss that falls to a level."""
    shape = fall * np.exp(-np.arange(count) / (count / 8))
    return level + shape + np.random.default_rng(seed).normal(0, noise, count)


def experiment(
    success: str = "",
    failure: str = "",
    guards: str = "",
    purpose: Purpose = Purpose.FIX,
    change: str = "lr 0.1 -> 0.03",
) -> Experiment:
    """A planned one, with criteria as a user types them."""
    return Experiment(
        id="E1",
        hypothesis="H1",
        change=change,
        purpose=purpose,
        success=parse_criteria(success),
        failure=parse_criteria(failure),
        guards=parse_criteria(guards),
        created=AT,
    )


def judged(
    before: Run | Sequence[float] | Values,
    after: Run | Sequence[float] | Values,
    planned: Experiment | None = None,
    *,
    name: str = "train_loss",
    incident: str = "",
    is_running: bool = False,
    onset: float | None = None,
    at_end: bool = False,
) -> BeforeAfter:
    """The comparison of two runs, or of two curves of one metric."""
    runs = [
        one if isinstance(one, Run) else make_run({name: [float(v) for v in one]})
        for one in (before, after)
    ]
    before_run, after_run = runs
    return compare(
        before_run,
        after_run,
        planned,
        at=AT,
        is_running=is_running,
        incident=incident,
        onset=onset,
        at_end=at_end,
    )


def change_of(result: BeforeAfter, name: str = "train_loss") -> MetricChange:
    """One of its metrics."""
    return next(change for change in result.changes if change.name == name)

"""Before and after: every metric of both runs, what it cost, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mltd.analyzers.core.glance import Glance
from mltd.analyzers.core.settings_lookup import Settings
from mltd.analyzers.gradients.layers import is_of_a_layer
from mltd.runs.run import Run

from ..model.experiment import Experiment
from ..model.result import BeforeAfter
from .case import Case
from .cost import cost_of
from .endings import ending_of
from .measuring import Measured, measure
from .pairs import Pair, pairs_of
from .summary import summary
from .verdict import Sort, Verdict, rule

_IN_DEPTH = 64
"""Metrics that get an interval, the most important first: each takes some milliseconds."""


def compare(
    before: Run,
    after: Run,
    experiment: Experiment | None = None,
    *,
    names: tuple[str, str] = ("before", "after"),
    at: datetime,
    is_running: bool = False,
    run_state: str = "",
    incident: str = "",
    onset: float | None = None,
    at_end: bool = False,
) -> BeforeAfter:
    """The whole comparison.

    `is_running` says that the run after the change may go on, which makes the verdict preliminary;
    `run_state` is what is known about it. `incident` is the metric that the incident shows in,
    `onset` the step at which it had shown itself, if they are known: no run is cured before it gets
    there. `at_end` compares what each run ended with instead of the last stretch that both went: a
    cure that ends a run early, before it overfits, is no other run up to there.
    """
    result, _ = compare_in_full(
        before,
        after,
        experiment,
        names=names,
        at=at,
        is_running=is_running,
        run_state=run_state,
        incident=incident,
        onset=onset,
        at_end=at_end,
    )
    return result


def compare_in_full(
    before: Run,
    after: Run,
    experiment: Experiment | None = None,
    *,
    names: tuple[str, str] = ("before", "after"),
    at: datetime,
    is_running: bool = False,
    run_state: str = "",
    incident: str = "",
    onset: float | None = None,
    at_end: bool = False,
) -> tuple[BeforeAfter, tuple[Measured, ...]]:
    """The comparison, and each metric with its points, the loss first, layers last."""
    views = (Glance(before), Glance(after))
    measured = _measured(pairs_of(*views), experiment, incident, onset, at_end)
    case = Case(
        measured,
        before=ending_of(views[0]),
        after=ending_of(views[1]),
        is_running=is_running,
        onset=onset,
        at_end=at_end,
        settings=(Settings(before.config), Settings(after.config)),
    )
    verdict = rule(case, experiment, incident)
    ordered = _ordered(case, verdict)
    result = BeforeAfter(
        at=at,
        before=names[0],
        after=names[1],
        outcome=verdict.outcome,
        summary=summary(verdict, case),
        criteria=tuple(one.result for one in verdict.ruled),
        changes=tuple(one.change for one in ordered),
        cost=cost_of(ordered),
        needed=verdict.needed,
        excludes_success=verdict.excludes_success,
        is_preliminary=is_running,
        run_state=run_state,
    )
    return result, measured


def _measured(
    pairs: Sequence[Pair],
    experiment: Experiment | None,
    incident: str,
    onset: float | None,
    at_end: bool,
) -> tuple[Measured, ...]:
    named = {incident}
    if experiment is not None:
        asked = (*experiment.success, *experiment.failure, *experiment.guards)
        named |= {criterion.metric for criterion in asked}
    found = []
    rest = _IN_DEPTH
    for pair in pairs:
        is_named = pair.role in named or any(series.name in named for series in pair.known)
        is_deep = pair.is_shared and rest > 0 and not is_of_a_layer(pair.name)
        rest -= is_deep
        is_deep = is_deep or is_named
        found.append(measure(pair, in_depth=is_deep, onset=onset, at_end=at_end))
    return tuple(found)


def _ordered(case: Case, verdict: Verdict) -> list[Measured]:
    """The target first, then what is guarded, then the others."""
    first = [verdict.target, *(case.find(one.metric) for one in verdict.of(Sort.GUARD))]
    found = {id(one): one for one in (*first, *case.measured) if one is not None}
    return list(found.values())

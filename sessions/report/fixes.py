"""What was done or could be done about the incident, in the order in which to look at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..model.experiment import Experiment, ExperimentStatus, Purpose
from ..model.session import Session
from .causes import Cause

MOST = 8

_WORTH_IT = 0.25
"""Confidence below which the fixes of a cause that nobody has taken up are left out."""


class FixState(StrEnum):
    """How far a fix is."""

    APPLIED = "applied"
    """An experiment has shown that it works."""
    TESTING = "being tested"
    PLANNED = "planned"
    PROPOSED = "proposed"
    TRIED = "tried, did not help"


@dataclass(frozen=True, slots=True)
class FixPlan:
    """One fix, and everything that somebody needs who carries it out."""

    change: str
    state: FixState
    addresses: str
    """H1, or the failure-mode id."""
    cause: str = ""
    experiment: str = ""
    example: str = ""
    expected_impact: str = ""
    verify: str = ""
    if_it_fails: str = ""
    rollback: str = ""
    result: str = ""
    is_preliminary: bool = False
    """The result is that of a run which was not over."""
    reversible: bool = True
    is_quick: bool = False
    source: str = ""
    """Who proposed it, if that was not tried yet."""

    @property
    def said(self) -> str:
        """How far it is, where, and whose idea it is if it is Claude's."""
        by = " by Claude" if self.source == "claude" else ""
        return f"{self.state.value}{by}" + (f" in {self.experiment}" if self.experiment else "")


_STATES = {
    ExperimentStatus.PASSED: FixState.APPLIED,
    ExperimentStatus.RUNNING: FixState.TESTING,
    ExperimentStatus.INCONCLUSIVE: FixState.TESTING,
    ExperimentStatus.PLANNED: FixState.PLANNED,
    ExperimentStatus.FAILED: FixState.TRIED,
}


def fixes_of(session: Session, causes: Sequence[Cause]) -> list[FixPlan]:
    """Fixes in priority order: shown to work, under test, planned, proposed; then the failed."""
    tried = [plan for one in session.experiments for plan in _of_experiment(session, one)]
    worth = [cause for cause in causes if cause.is_alive]
    # What hardly anybody believes is named among the causes; its cures would only fill pages.
    worth = [one for one in worth if one is worth[0] or one.label or one.confidence >= _WORTH_IT]
    proposed = [plan for cause in worth for plan in _of_cause(cause)]
    found: dict[str, FixPlan] = {}
    for plan in (*tried, *proposed):
        found.setdefault(" ".join(plan.change.lower().split()), plan)
    order = list(FixState)
    plans = sorted(found.values(), key=lambda plan: order.index(plan.state))
    alive = [plan for plan in plans if plan.state is not FixState.TRIED][:MOST]
    return [*alive, *(plan for plan in plans if plan.state is FixState.TRIED)]


def _of_experiment(session: Session, experiment: Experiment) -> Iterator[FixPlan]:
    state = _STATES.get(experiment.status)
    if state is None or experiment.purpose is Purpose.REPRODUCTION:
        return
    hypothesis = session.hypothesis(experiment.hypothesis)
    known = next(
        (fix for fix in (hypothesis.fixes if hypothesis else ())
         if fix.change.split() == experiment.change.split()), None
    )  # fmt: skip
    yield FixPlan(
        change=experiment.change,
        state=state,
        addresses=experiment.hypothesis,
        cause=hypothesis.cause if hypothesis else "",
        experiment=experiment.id,
        example=known.example if known else "",
        expected_impact=experiment.expected_impact or (known.expected_impact if known else ""),
        verify=experiment.verify or (known.verify if known else ""),
        if_it_fails=experiment.if_it_fails or (known.if_it_fails if known else ""),
        rollback=experiment.rollback,
        result=_result(experiment),
        is_preliminary=experiment.result is not None and experiment.result.is_preliminary,
        reversible=known.reversible if known else True,
        is_quick=known.is_quick if known else False,
    )


def _result(experiment: Experiment) -> str:
    result = experiment.result
    if result is None:
        return ""
    if not result.is_preliminary:
        return result.summary
    return f"{result.outcome.value} so far ({result.preliminary}): {result.summary}"


def _of_cause(cause: Cause) -> Iterator[FixPlan]:
    for fix in cause.fixes:
        yield FixPlan(
            change=fix.change,
            state=FixState.PROPOSED,
            addresses=cause.label or cause.cause,
            cause=cause.cause or fix.addresses,
            example=fix.example,
            expected_impact=fix.expected_impact,
            verify=fix.verify,
            if_it_fails=fix.if_it_fails,
            reversible=fix.reversible,
            is_quick=fix.is_quick,
            source=cause.source,
        )

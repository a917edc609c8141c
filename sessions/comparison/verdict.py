"""The verdict: by the criteria fixed before, else by the default bar.

Criteria may say different things. What counts, the first that is true:

1. inconclusive  the run was made without the change: it tests nothing, whatever came of it
2. failed        gravely, wherever the run has been: not finite, an error, a criterion of failure
                 that holds, or a wished improvement that is clearly a regression
3. inconclusive  the run has not been where the incident showed itself, or where the other one
                 failed: before that place there is nothing to improve, and guards may yet recover
4. failed        any other criterion, a guarded metric among them
5. inconclusive  a criterion that nobody can decide yet; guards that are not shown do not count
6. passed
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from ..model.criterion import DEFAULT_IMPROVEMENT, Criterion, Demand
from ..model.experiment import Experiment, Purpose
from ..model.result import CriterionResult, Outcome
from .case import Case
from .criteria import judge
from .judged import FAILED, INCONCLUSIVE, PASSED, Judged, Weight
from .measuring import Measured
from .planned import unmade
from .reproduction import shows_again
from .survival import falls_short, survives
from .targets import guards_of, target_of


class Sort(StrEnum):
    """What a criterion is for."""

    SUCCESS = "success"
    FAILURE = "failure"
    GUARD = "guard"


_PRECEDENCE: tuple[tuple[Outcome, frozenset[Weight]], ...] = (
    (INCONCLUSIVE, frozenset({Weight.NO_TEST})),
    (FAILED, frozenset({Weight.GRAVE})),
    (INCONCLUSIVE, frozenset({Weight.EARLY})),
    (FAILED, frozenset(Weight)),
    (INCONCLUSIVE, frozenset(Weight)),
)


@dataclass(frozen=True, slots=True)
class Ruled:
    """A criterion and what became of it."""

    asked: str
    judged: Judged
    sort: Sort = Sort.SUCCESS
    metric: str = ""

    @property
    def result(self) -> CriterionResult:
        """For the record."""
        return CriterionResult(
            criterion=self.asked,
            outcome=self.judged.outcome,
            said=self.judged.said,
            is_guard=self.sort is Sort.GUARD,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """How it ended, and by what."""

    outcome: Outcome
    target: Measured | None
    ruled: tuple[Ruled, ...]

    def of(self, sort: Sort, *outcomes: Outcome) -> list[Ruled]:
        """Criteria of one sort with one of these outcomes, or with any."""
        return [
            one
            for one in self.ruled
            if one.sort is sort and (not outcomes or one.judged.outcome in outcomes)
        ]

    @property
    def deciding(self) -> Ruled | None:
        """The criterion on which it hangs."""
        passed = self.of(Sort.SUCCESS, PASSED)
        found = _decisive(self.ruled) or (passed if self.outcome is PASSED else ())
        order = (Sort.FAILURE, Sort.SUCCESS, Sort.GUARD)
        return min(found, key=lambda one: order.index(one.sort), default=None)

    @property
    def needed(self) -> int:
        """How many more points it takes to decide."""
        if self.outcome is not INCONCLUSIVE:
            return 0
        found = (one for one in _decisive(self.ruled) if one.sort is Sort.SUCCESS)
        return max((one.judged.needed for one in found), default=0)

    @property
    def excludes_success(self) -> bool:
        """More points will not help."""
        failed = self.of(Sort.SUCCESS, FAILED)
        return self.outcome is FAILED and any(one.judged.is_excluded for one in failed)


def rule(case: Case, experiment: Experiment | None, incident: str = "") -> Verdict:
    """Judge all criteria and put them together."""
    target = target_of(case, experiment, incident)
    ruled = (
        *_made(case, experiment),
        *_successes(case, experiment, target),
        *_reach(case, experiment, target),
        *_failures(case, experiment),
        *_guards(case, experiment, target),
    )
    decisive = _decisive(ruled)
    return Verdict(decisive[0].judged.outcome if decisive else PASSED, target, ruled)


def _made(case: Case, experiment: Experiment | None) -> Iterator[Ruled]:
    if experiment is not None and (found := unmade(case, experiment.change)) is not None:
        name, judged = found
        yield Ruled("the planned change is made", judged, metric=name)


def _successes(
    case: Case, experiment: Experiment | None, target: Measured | None
) -> Iterator[Ruled]:
    if experiment is not None and experiment.success:
        if experiment.purpose is Purpose.FIX:
            yield from _survival(case, target)
        for criterion in experiment.success:
            yield Ruled(str(criterion), judge(criterion, case), metric=criterion.metric)
        return
    if experiment is not None and experiment.purpose is Purpose.REPRODUCTION:
        yield Ruled(*shows_again(case, target), metric=_name(target))
        return
    yield from _survival(case, target)
    if case.before.error and not case.at_end:
        return
    if target is None:
        said = "the runs share no metric of which one direction is better"
        yield Ruled("a metric improves", Judged(INCONCLUSIVE, f"{said}; give a criterion"))
        return
    is_lost = target.change.before is not None and not math.isfinite(target.change.before)
    demand = Demand.FINITE if is_lost else Demand.IMPROVES
    amount = 0.0 if is_lost else DEFAULT_IMPROVEMENT
    name = target.change.role or target.change.name
    criterion = Criterion(metric=name, demand=demand, amount=amount)
    yield Ruled(str(criterion), judge(criterion, case), metric=name)


def _survival(case: Case, target: Measured | None) -> Iterator[Ruled]:
    """No fix passes that fails by itself, whatever else was asked of it."""
    if case.before.error and (case.after.error or not case.at_end):
        asked = "goes on past the place where the run before failed"
        yield Ruled(asked, survives(case, target or _any_shared(case)), metric=_name(target))
    elif case.after.error:
        said = f"the run after the change failed: {case.after.error}"
        yield Ruled("the run does not fail", Judged(FAILED, said, said, weight=Weight.GRAVE))


def _reach(case: Case, experiment: Experiment | None, target: Measured | None) -> Iterator[Ruled]:
    """A run that stops before the place where the other one went wrong shows nothing yet."""
    is_cure = experiment is not None and experiment.purpose is Purpose.FIX and not case.at_end
    if is_cure and (judged := falls_short(case, target or _any_shared(case))) is not None:
        yield Ruled("gets past the place of the incident", judged, metric=_name(target))


def _failures(case: Case, experiment: Experiment | None) -> Iterator[Ruled]:
    """Turned round: one that holds is a failure."""
    for criterion in experiment.failure if experiment is not None else ():
        found = judge(criterion, case)
        turned = {PASSED: FAILED, FAILED: PASSED}.get(found.outcome, INCONCLUSIVE)
        weight = Weight.GRAVE if turned is FAILED else Weight.PLAIN
        judged = Judged(turned, found.said, needed=found.needed, weight=weight)
        yield Ruled(f"fails if {criterion}", judged, Sort.FAILURE, criterion.metric)


def _guards(case: Case, experiment: Experiment | None, target: Measured | None) -> Iterator[Ruled]:
    if experiment is not None and experiment.purpose is Purpose.REPRODUCTION:
        return
    for criterion in guards_of(case, target, experiment):
        yield Ruled(str(criterion), judge(criterion, case), Sort.GUARD, criterion.metric)


def _decisive(ruled: tuple[Ruled, ...]) -> list[Ruled]:
    """The criteria that decide, by the order above; none if all of them passed."""
    for outcome, weights in _PRECEDENCE:
        found = [
            one
            for one in ruled
            if one.judged.outcome is outcome
            and one.judged.weight in weights
            and (outcome is FAILED or one.judged.is_blocking)
        ]
        if found:
            return found
    return []


def _any_shared(case: Case) -> Measured | None:
    return next((one for one in case.measured if one.pair.is_shared), None)


def _name(one: Measured | None) -> str:
    return "" if one is None else one.change.role or one.change.name

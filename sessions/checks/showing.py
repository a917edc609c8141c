"""What an experiment has shown about the variable that it changed, in one sentence."""

from __future__ import annotations

from ..model.criterion import DEFAULT_GUARD
from ..model.experiment import Experiment, ExperimentStatus
from ..model.result import BeforeAfter, MetricChange, Outcome

LONGEST_CHANGE = 60
_FAIL_CRITERION = "fails if "
"""How the verdict words a criterion that must not hold."""


def shows(experiment: Experiment, result: BeforeAfter) -> str:
    """Guilty, innocent, or something in between that a verdict alone would hide; empty for nothing.

    A guard may decide an experiment of whose target nobody knows what became.
    """
    change = experiment.change
    if len(change) > LONGEST_CHANGE:
        change = change[: LONGEST_CHANGE - 1].rstrip() + "…"
    numbers = _numbers(result)
    lead = f"{experiment.id} {change}: {numbers}" if numbers else f"{experiment.id} {change}"
    variable = experiment.variable.value
    if experiment.status is ExperimentStatus.PASSED:
        return f"{lead}: the {variable} is to blame"
    outcomes = _of_the_target(result)
    if Outcome.FAILED not in outcomes:
        is_met = bool(outcomes) and Outcome.INCONCLUSIVE not in outcomes
        return f"{lead}: the {variable} makes a difference, but {_cost(result)}" if is_met else ""
    target = result.changes[0] if result.changes else None
    if target is not None and _is_worse(target):
        return f"{lead}: it gets worse, so this is no cure"
    if target is not None and _is_better(target):
        return f"{lead}: better, but short of what it had to show"
    return f"{lead}: the {variable} makes no difference"


def _numbers(result: BeforeAfter) -> str:
    """The target and how far it moved: `loss -30%`."""
    target = result.changes[0] if result.changes else None
    if target is None or target.change is None or target.change != target.change:
        return ""
    return f"{target.name} {target.change:+.0%}"


def _of_the_target(result: BeforeAfter) -> list[Outcome]:
    """What became of the criteria for success; guards and fail criteria say nothing about it."""
    return [
        one.outcome
        for one in result.criteria
        if not one.is_guard and not one.criterion.startswith(_FAIL_CRITERION)
    ]


def _cost(result: BeforeAfter) -> str:
    failed = [one.criterion for one in result.criteria if one.outcome is Outcome.FAILED]
    return f"it failed: {failed[0]}" if failed else "the verdict went against it"


def _is_better(target: MetricChange) -> bool:
    """Seen beyond chance."""
    interval = target.improvement_interval
    return interval is not None and interval[0] > 0


def _is_worse(target: MetricChange) -> bool:
    """Seen beyond chance, and by more than a guard would let pass."""
    interval, moved = target.improvement_interval, target.improvement
    if interval is None or moved is None:
        return False
    return interval[1] < 0 and moved < -DEFAULT_GUARD

"""Which metric an experiment is judged by, and which may not suffer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..model.criterion import DEFAULT_GUARD, Criterion, Demand
from ..model.experiment import Experiment
from .case import Case
from .directions import OUTCOMES, kind_of, split_of
from .measuring import Measured
from .windows import ENOUGH

_MEASURED_ASIDE = ("val", "test")
_SPLITS = (*_MEASURED_ASIDE, "train")


def target_of(case: Case, experiment: Experiment | None, incident: str = "") -> Measured | None:
    """The metric named by the criteria, else what the incident is about, else the loss.

    The validation loss before the training loss if both runs have enough of it, then whatever
    else a training is for.
    """
    if experiment is not None and experiment.success:
        wished = sorted(experiment.success, key=lambda one: one.demand is not Demand.IMPROVES)
        return next(filter(None, (case.find(one.metric) for one in wished)), None)
    meant = case.find(incident) if incident else None
    if meant is not None and meant.pair.is_shared and meant.change.smaller_is_better is not None:
        return meant
    known = [
        one
        for one in case.measured
        if one.pair.is_primary and one.change.smaller_is_better is not None
    ]
    for role in ("val/loss", "train/loss"):
        for one in known:
            if one.change.role == role and _has_enough(one):
                return one
    ranked = [one for one in known if kind_of(one.change.role) in OUTCOMES]
    return min(ranked, key=_rank, default=None)


def guards_of(
    case: Case, target: Measured | None, experiment: Experiment | None
) -> Sequence[Criterion]:
    """What may not suffer: as was fixed, else every other metric that has a better direction.

    Not guarded is what is measured on the training data if the target is measured on others: a
    cure of overfitting makes that worse.
    """
    if experiment is not None and experiment.guards:
        return experiment.guards
    found = []
    is_aside = target is not None and split_of(target.change.role) in _MEASURED_ASIDE
    for one in case.measured:
        role = one.change.role
        if not one.pair.is_primary or role is None or one.change.smaller_is_better is None:
            continue
        is_fitted = kind_of(role) in OUTCOMES and split_of(role) not in _MEASURED_ASIDE
        if one is target or (is_aside and is_fitted):
            continue
        if kind_of(role) not in OUTCOMES and not _is_one_measure(one):
            continue
        found.append(Criterion(metric=role, demand=Demand.HOLDS, amount=DEFAULT_GUARD))
    return found


def _is_one_measure(one: Measured) -> bool:
    """Tokens per second and samples per second both are a throughput, but not the same one."""
    return len({(series.name, series.unit) for series in one.pair.known}) == 1


def _has_enough(one: Measured) -> bool:
    """Both runs have so much of it that something can be said, if only that it is no number."""
    levels = (one.change.before, one.change.after)
    is_lost = any(value is not None and not math.isfinite(value) for value in levels)
    return is_lost or min(one.change.points) >= ENOUGH


def _rank(one: Measured) -> tuple[bool, int, int]:
    kind, split = kind_of(one.change.role), split_of(one.change.role)
    place = _SPLITS.index(split) if split in _SPLITS else len(_SPLITS)
    return not _has_enough(one), OUTCOMES.index(kind), place

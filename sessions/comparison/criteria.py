"""One criterion against what was measured."""

from __future__ import annotations

from ..model.criterion import Criterion, Demand
from .absolute import is_beyond, stays_finite
from .case import Case
from .judged import INCONCLUSIVE, Judged
from .relative import holds, improves


def judge(criterion: Criterion, case: Case) -> Judged:
    """Whether it holds: yes, no, or nobody can say."""
    one = case.find(criterion.metric)
    if one is None or one.pair.after is None:
        missing = f"the run after the change does not log {criterion.metric}"
        return Judged(INCONCLUSIVE, missing + case.closest(criterion.metric))
    match criterion.demand:
        case Demand.IMPROVES:
            return improves(one, criterion.amount, case)
        case Demand.HOLDS:
            return holds(one, criterion.amount)
        case Demand.FINITE:
            return stays_finite(one)
        case _:
            return is_beyond(one, criterion, case)

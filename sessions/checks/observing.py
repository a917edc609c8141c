"""Looking at all items: which of them the app can verify, and what the others lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from ..actions.base import clipped
from ..facts.gathered import Seen
from ..model.checklist import CheckMark, MarkState
from ..model.session import Session
from . import closing, intake, work
from .look import Look

LONGEST_REASON = 160

_LOOKS: dict[str, Callable[[Session, Seen | None], Look]] = {
    "logs": intake.logs,
    "metrics": intake.metrics,
    "configs": intake.configs,
    "seeds": intake.seeds,
    "hardware": intake.hardware,
    "revision": intake.revision,
    "baseline": intake.baseline,
    "reproduced": work.reproduced,
    "isolate_data": work.isolate_data,
    "isolate_model": work.isolate_model,
    "isolate_optimiser": work.isolate_optimiser,
    "hypotheses": work.hypotheses,
    "experiments": work.experiments,
    "criteria": work.criteria,
    "minimal_fix": closing.minimal_fix,
    "per_split": closing.per_split,
    "gradients": closing.gradients,
    "no_regression": closing.no_regression,
    "rollback": closing.rollback,
    "monitors": closing.monitors,
    "root_cause": closing.root_cause,
    "ceiling": closing.ceiling,
}
_FROM_THE_RUN = ("logs", "metrics", "configs", "seeds")
"""Items that are judged by looking at a run: while none is open, what was seen before stands."""


def observed(session: Session, seen: Seen | None, at: datetime) -> tuple[CheckMark, ...]:
    """All items that the app sees to be done, each with its reason and its evidence."""
    marks = []
    for item, look in _LOOKS.items():
        known = session.marks.get(item)
        found = look(session, seen)
        if found.is_done:
            reason = clipped(found.said, LONGEST_REASON)
            mark = CheckMark(item=item, state=MarkState.DONE, by="app", reason=reason,
                             evidence=found.evidence, at=at)  # fmt: skip
            is_old = known is not None and _sense(known) == _sense(mark)
            marks.append(mark.model_copy(update={"at": known.at}) if known and is_old else mark)
        elif seen is None and item in _FROM_THE_RUN and known is not None and known.by == "app":
            marks.append(known)
    return tuple(marks)


def is_news(session: Session, marks: Sequence[CheckMark]) -> bool:
    """True if these marks tick or untick something; growing numbers alone are no news."""
    known = {item for item, mark in session.marks.items() if mark.by == "app"}
    held = {item for item, mark in session.marks.items() if mark.by != "app"}
    return {mark.item for mark in marks} - held != known


def missing(item: str, session: Session, seen: Seen | None) -> str:
    """What an item lacks and what to do about it; empty if the app sees it to be done."""
    look = _LOOKS.get(item)
    if look is None:
        return ""
    found = look(session, seen)
    return "" if found.is_done else clipped(found.said, LONGEST_REASON)


def _sense(mark: CheckMark) -> tuple[str, MarkState, str, str]:
    """What a mark says, whenever it was set."""
    return mark.item, mark.state, mark.by, mark.reason

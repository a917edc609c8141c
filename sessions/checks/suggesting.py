"""What to work on next: one thing at a time."""

from __future__ import annotations

from ..model.checklist import CHECKS, MarkState, Phase
from ..model.experiment import ExperimentStatus
from ..model.hypothesis import HypothesisStatus
from ..model.session import Session

_CLOSED = (MarkState.DONE, MarkState.WAIVED)


def suggest(session: Session) -> str:
    """Id of the one item, hypothesis or experiment to work on; empty if all is done.

    What was begun comes first: a running experiment whose run nobody has linked, then one that
    waits for its verdict, a hypothesis under test, an item that somebody has begun. Otherwise
    it is the first open item in the order of the phases.
    """
    running = [e for e in session.experiments if e.status is ExperimentStatus.RUNNING]
    for experiment in sorted(running, key=lambda e: bool(e.run)):
        return experiment.id
    for hypothesis in session.hypotheses:
        if hypothesis.status is HypothesisStatus.TESTING:
            return hypothesis.id
    open_items = [check.id for check in CHECKS if _state(session, check.id) not in _CLOSED]
    begun = (item for item in open_items if _state(session, item) is MarkState.IN_PROGRESS)
    return next(begun, None) or next(iter(open_items), "")


def phase_of(session: Session) -> Phase:
    """The first phase with open items; the last one if there are none."""
    for check in CHECKS:
        if _state(session, check.id) not in _CLOSED:
            return check.phase
    return Phase.HANDOFF


def progress(session: Session, phase: Phase) -> tuple[int, int]:
    """How many items of a phase are done or waived, and how many it has."""
    items = [check.id for check in CHECKS if check.phase is phase]
    return sum(_state(session, item) in _CLOSED for item in items), len(items)


def _state(session: Session, item: str) -> MarkState:
    mark = session.marks.get(item)
    return mark.state if mark is not None else MarkState.OPEN

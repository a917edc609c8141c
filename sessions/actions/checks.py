"""What can be done to the items of the checklist."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ..errors import Refused
from ..model.checklist import CHECKS, CheckMark, MarkState, Phase
from ..model.session import Session
from .base import Action, changed

_TITLES = {check.id: check.title for check in CHECKS}


class MarkCheck(Action):
    """Tick an item, waive it with a reason, begin it, or open it again."""

    op: Literal["mark_check"] = "mark_check"
    item: str
    state: MarkState
    reason: str = ""

    def apply(self, session: Session, at: datetime) -> Session:
        """Set the mark; a waiver without a reason is none."""
        if self.item not in _TITLES:
            raise Refused(f"the checklist has no item {self.item!r}")
        if self.state is MarkState.WAIVED and not self.reason.strip():
            raise Refused("a waiver needs a reason: what makes this item unnecessary here?")
        marks = dict(session.marks)
        known = marks.pop(self.item, None)
        is_taken_back = self.state is MarkState.OPEN and known is not None and known.by == "person"
        if not is_taken_back:
            # Otherwise nobody has said anything, and the app may see for itself again.
            marks[self.item] = CheckMark(
                item=self.item, state=self.state, reason=self.reason, at=at
            )
        return changed(session, marks=marks)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"{_TITLES.get(self.item, self.item)}: {self.state.value.replace('_', ' ')}"


class ObserveChecks(Action):
    """What the app itself can see to be done; a person's own mark is never overruled."""

    op: Literal["observe_checks"] = "observe_checks"
    marks: tuple[CheckMark, ...]

    def apply(self, session: Session, at: datetime) -> Session:
        """Take over all marks but those that a person has set."""
        kept = {item: mark for item, mark in session.marks.items() if mark.by == "person"}
        new = (changed(mark, by="app") for mark in self.marks)
        seen = {mark.item: mark for mark in new if mark.item not in kept}
        return changed(session, marks={**seen, **kept})

    def said(self, session: Session) -> str:
        """What it does."""
        return "looked at what can be verified"


class SetPhase(Action):
    """Go to another phase."""

    op: Literal["set_phase"] = "set_phase"
    phase: Phase

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it."""
        return changed(session, phase=self.phase)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"phase {self.phase.number}: {self.phase.heading}"

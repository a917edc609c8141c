"""What can be done to hypotheses."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from mltd.analyzers.core.finding import Basis

from ..errors import Refused
from ..model.confidence import Confidence, ConfidenceChange
from ..model.evidence import EvidenceRef
from ..model.hypothesis import Hypothesis, HypothesisStatus
from ..model.session import Session
from .base import Action, changed, clipped, hypothesis_in, moved, swapped, without


class AddHypothesis(Action):
    """Write a hypothesis down; its history begins with why."""

    op: Literal["add_hypothesis"] = "add_hypothesis"
    hypothesis: Hypothesis
    reason: str = ""

    @property
    def makes(self) -> str:
        """Id of what it adds."""
        return self.hypothesis.id

    def apply(self, session: Session, at: datetime) -> Session:
        """Add it as the last one."""
        new = self.hypothesis
        if session.hypothesis(new.id) is not None:
            raise Refused(f"there is a hypothesis {new.id} already")
        _refuse_twin(session, new.statement)
        if new.status is HypothesisStatus.CONFIRMED and not new.evidence:
            raise Refused(f"{new.id} has no evidence yet, and is not confirmed without")
        if not new.history:
            why = self.reason or "as first stated"
            first = ConfidenceChange(
                at=at, confidence=new.confidence, reason=why, source=new.source
            )
            new = changed(new, history=(first,))
        return changed(session, hypotheses=(*session.hypotheses, new))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"added {self.hypothesis.id}: {clipped(self.hypothesis.statement)}"


class EditHypothesis(Action):
    """Say it better."""

    op: Literal["edit_hypothesis"] = "edit_hypothesis"
    id: str
    statement: str
    cause: str = ""

    def apply(self, session: Session, at: datetime) -> Session:
        """Replace statement and failure mode."""
        old = hypothesis_in(session, self.id)
        if not self.statement.strip():
            raise Refused("a hypothesis needs a statement")
        _refuse_twin(session, self.statement, but=self.id)
        new = changed(old, statement=self.statement, cause=self.cause)
        return changed(session, hypotheses=swapped(session.hypotheses, old, new))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"reworded {self.id}: {clipped(self.statement)}"


class RemoveHypothesis(Action):
    """Take a hypothesis off the list, with its experiments."""

    op: Literal["remove_hypothesis"] = "remove_hypothesis"
    id: str

    def apply(self, session: Session, at: datetime) -> Session:
        """Remove both."""
        old = hypothesis_in(session, self.id)
        kept = tuple(e for e in session.experiments if e.hypothesis != self.id)
        return changed(session, hypotheses=without(session.hypotheses, old), experiments=kept)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"removed {self.id}"


class SetHypothesisStatus(Action):
    """Say where a hypothesis stands."""

    op: Literal["set_hypothesis_status"] = "set_hypothesis_status"
    id: str
    status: HypothesisStatus
    reason: str = ""

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it, and keep the reason beside the confidence it was held with."""
        old = hypothesis_in(session, self.id)
        if self.status is HypothesisStatus.CONFIRMED and not old.evidence:
            raise Refused(
                f"{self.id} has no evidence yet, and is not confirmed without",
                hint="add a piece of evidence, or plan an experiment",
            )
        is_seen = old.confidence.basis is Basis.OBSERVATION
        if self.status is HypothesisStatus.CONFIRMED and not is_seen:
            raise Refused(
                f"{self.id} rests on {old.confidence.basis.value}, and only what was seen is "
                "confirmed",
                hint="let an experiment show it, or say with + where it was observed",
            )
        why = f"{self.status.value}: {self.reason}" if self.reason else self.status.value
        step = ConfidenceChange(at=at, confidence=old.confidence, reason=why)
        new = changed(old, status=self.status, history=(*old.history, step))
        return changed(session, hypotheses=swapped(session.hypotheses, old, new))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"{self.id} is {self.status.value}"


class SetConfidence(Action):
    """Be surer, or less sure, and say why."""

    op: Literal["set_confidence"] = "set_confidence"
    id: str
    confidence: Confidence
    reason: str
    source: str = "person"

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it, and add to the history."""
        old = hypothesis_in(session, self.id)
        if not self.reason.strip():
            raise Refused("a change of confidence needs a reason")
        step = ConfidenceChange(
            at=at, confidence=self.confidence, reason=self.reason, source=self.source
        )
        new = changed(old, confidence=self.confidence, history=(*old.history, step))
        return changed(session, hypotheses=swapped(session.hypotheses, old, new))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"{self.id} is held with {self.confidence}"


class AddEvidence(Action):
    """Name something that speaks for a hypothesis, or against it."""

    op: Literal["add_evidence"] = "add_evidence"
    id: str
    evidence: EvidenceRef
    is_against: bool = False

    def apply(self, session: Session, at: datetime) -> Session:
        """Add it, once."""
        old = hypothesis_in(session, self.id)
        side = "against" if self.is_against else "evidence"
        known: tuple[EvidenceRef, ...] = getattr(old, side)
        if self.evidence in known:
            raise Refused(f"{self.id} has this evidence already: {self.evidence.ref}")
        new = changed(old, **{side: (*known, self.evidence)})
        return changed(session, hypotheses=swapped(session.hypotheses, old, new))

    def said(self, session: Session) -> str:
        """What it does."""
        side = "against" if self.is_against else "for"
        return f"evidence {side} {self.id}: {self.evidence.ref}"


class RemoveEvidence(Action):
    """Take a piece of evidence back."""

    op: Literal["remove_evidence"] = "remove_evidence"
    id: str
    ref: str
    is_against: bool = False

    def apply(self, session: Session, at: datetime) -> Session:
        """Remove it from its side."""
        old = hypothesis_in(session, self.id)
        side = "against" if self.is_against else "evidence"
        kept = tuple(piece for piece in getattr(old, side) if piece.ref != self.ref)
        new = changed(old, **{side: kept})
        return changed(session, hypotheses=swapped(session.hypotheses, old, new))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"evidence taken back from {self.id}: {self.ref}"


class MoveHypothesis(Action):
    """Put a hypothesis further up or down."""

    op: Literal["move_hypothesis"] = "move_hypothesis"
    id: str
    by: int

    def apply(self, session: Session, at: datetime) -> Session:
        """Move it as far as it goes."""
        old = hypothesis_in(session, self.id)
        return changed(session, hypotheses=moved(session.hypotheses, old, self.by))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"moved {self.id} {'up' if self.by < 0 else 'down'}"


def _refuse_twin(session: Session, statement: str, but: str = "") -> None:
    same = _spoken(statement)
    for known in session.hypotheses:
        if known.id != but and _spoken(known.statement) == same:
            raise Refused(f"that is {known.id} already: {clipped(known.statement)}")


def _spoken(statement: str) -> str:
    return " ".join(statement.casefold().split())

"""What can be done to the session itself, its runs, its circumstances and its records."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ..errors import Refused
from ..model.constraints import Fact, TimelineEntry, Topic
from ..model.records import Decision, DiagnosisRecord, Note, Prevention
from ..model.run_ref import RunPart, RunRef
from ..model.session import Session
from .base import Action, changed, clipped, swapped, with_run
from .diagnoses import affordable


class Rename(Action):
    """Give the session another title."""

    op: Literal["rename"] = "rename"
    title: str

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it."""
        if not self.title.strip():
            raise Refused("a session needs a title")
        return changed(session, title=" ".join(self.title.split()))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"renamed to {clipped(self.title)}"


class Archive(Action):
    """Put the session away, or bring it back."""

    op: Literal["archive"] = "archive"
    is_archived: bool = True

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it."""
        return changed(session, is_archived=self.is_archived)

    def said(self, session: Session) -> str:
        """What it does."""
        return "archived" if self.is_archived else "brought back from the archive"


class SetOwner(Action):
    """Say who answers for the incident."""

    op: Literal["set_owner"] = "set_owner"
    owner: str

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it."""
        return changed(session, owner=" ".join(self.owner.split()))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"owner: {self.owner or 'nobody'}"


class AddRun(Action):
    """Take a run into the session."""

    op: Literal["add_run"] = "add_run"
    run: RunRef

    @property
    def makes(self) -> str:
        """Id of what it adds."""
        return self.run.id

    def apply(self, session: Session, at: datetime) -> Session:
        """Add it, or what is newly known about it."""
        known = session.run(self.run.id) if self.run.id else None
        if known is not None:
            return changed(session, runs=swapped(session.runs, known, self.run))
        return changed(session, runs=(*session.runs, self.run))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"added run {self.run.id}: {self.run.label}"


class SetRunPart(Action):
    """Say what a run is to the incident, such as the one that did what this should have done."""

    op: Literal["set_run_part"] = "set_run_part"
    id: str
    part: RunPart
    ref: RunRef | None = None
    """The run itself, if the session does not know it yet: undone, both are gone."""

    @property
    def makes(self) -> str:
        """Id of the run that it adds, if it adds one."""
        return self.ref.id if self.ref is not None else ""

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it."""
        session = with_run(session, self.ref)
        known = session.run(self.id) if self.id else None
        if known is None:
            raise Refused(f"there is no run {self.id} in this session")
        is_only = [run.id for run in session.runs if run.part is RunPart.INCIDENT] == [self.id]
        if is_only and self.part is not RunPart.INCIDENT:
            raise Refused(f"{known.label} is the run that the incident is about")
        new = changed(known, part=self.part)
        return changed(session, runs=swapped(session.runs, known, new))

    def said(self, session: Session) -> str:
        """What it does."""
        run = session.run(self.id) if self.id else None
        return f"{run.label if run else self.id} is the {self.part.value}"


class SetFact(Action):
    """Answer one of the questions about the circumstances, or take the answer back."""

    op: Literal["set_fact"] = "set_fact"
    topic: Topic
    fact: Fact | None

    def apply(self, session: Session, at: datetime) -> Session:
        """Set it."""
        facts = dict(session.constraints.facts)
        if self.fact is None:
            facts.pop(self.topic, None)
        else:
            facts[self.topic] = self.fact
        return changed(session, constraints=changed(session.constraints, facts=facts))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"{self.topic.heading}: {clipped(self.fact.value) if self.fact else 'not known'}"


class Prefill(Action):
    """What the app read in log and config; an answer that a person gave is never overruled."""

    op: Literal["prefill"] = "prefill"
    facts: dict[Topic, Fact]
    timeline: tuple[TimelineEntry, ...] = ()

    def apply(self, session: Session, at: datetime) -> Session:
        """Take over all facts but those that a person gave."""
        old = session.constraints
        given = {topic: fact for topic, fact in old.facts.items() if not fact.is_prefilled}
        told = tuple(entry for entry in old.timeline if entry.source == "person")
        new = changed(
            old, facts={**self.facts, **given}, timeline=_in_order((*self.timeline, *told))
        )
        return changed(session, constraints=new)

    def said(self, session: Session) -> str:
        """What it does."""
        return "read the circumstances from log and config"


class AddTimelineEntry(Action):
    """Say what happened when."""

    op: Literal["add_timeline_entry"] = "add_timeline_entry"
    entry: TimelineEntry

    def apply(self, session: Session, at: datetime) -> Session:
        """Put it in its place."""
        old = session.constraints
        new = changed(old, timeline=_in_order((*old.timeline, self.entry)))
        return changed(session, constraints=new)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"timeline: {clipped(self.entry.text)}"


class PutNote(Action):
    """Write a note, or write it anew; an empty one is removed."""

    op: Literal["put_note"] = "put_note"
    id: str
    text: str

    @property
    def makes(self) -> str:
        """Id of what it adds."""
        return self.id

    def apply(self, session: Session, at: datetime) -> Session:
        """Add, replace or remove it."""
        kept = tuple(note for note in session.notes if note.id != self.id)
        if self.text.strip():
            kept = (*kept, Note(id=self.id, at=at, text=self.text))
        return changed(session, notes=kept)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"note: {clipped(self.text)}" if self.text.strip() else "note removed"


class PutDecision(Action):
    """Record a decision, or record it anew; an empty one is removed."""

    op: Literal["put_decision"] = "put_decision"
    id: str
    text: str
    because: str = ""

    @property
    def makes(self) -> str:
        """Id of what it adds."""
        return self.id

    def apply(self, session: Session, at: datetime) -> Session:
        """Add, replace or remove it."""
        kept = tuple(one for one in session.decisions if one.id != self.id)
        if self.text.strip():
            new = Decision(id=self.id, at=at, text=self.text, because=self.because)
            kept = (*kept, new)
        return changed(session, decisions=kept)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"decision: {clipped(self.text)}" if self.text.strip() else "decision removed"


class PutPrevention(Action):
    """Add something that keeps it from coming back, or change it."""

    op: Literal["put_prevention"] = "put_prevention"
    prevention: Prevention

    @property
    def makes(self) -> str:
        """Id of what it adds."""
        return self.prevention.id

    def apply(self, session: Session, at: datetime) -> Session:
        """Add it, or replace it where it stands."""
        known = next((p for p in session.prevention if p.id == self.prevention.id), None)
        if known is None:
            return changed(session, prevention=(*session.prevention, self.prevention))
        return changed(session, prevention=swapped(session.prevention, known, self.prevention))

    def said(self, session: Session) -> str:
        """What it does."""
        known = next((p for p in session.prevention if p.id == self.prevention.id), None)
        is_done = self.prevention.is_done and (known is None or known.is_done)
        return f"prevention{' done' if is_done else ''}: {clipped(self.prevention.text)}"


class RemovePrevention(Action):
    """Take a prevention item off the list."""

    op: Literal["remove_prevention"] = "remove_prevention"
    id: str

    def apply(self, session: Session, at: datetime) -> Session:
        """Remove it."""
        kept = tuple(item for item in session.prevention if item.id != self.id)
        return changed(session, prevention=kept)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"prevention item {self.id} removed"


class RecordDiagnosis(Action):
    """Keep a diagnosis as it was received."""

    op: Literal["record_diagnosis"] = "record_diagnosis"
    diagnosis: DiagnosisRecord

    def apply(self, session: Session, at: datetime) -> Session:
        """Keep it; of the analyzers the newest per run is enough."""
        new = self.diagnosis
        kept = [
            known
            for known in session.diagnoses
            if known.is_claudes or (known.source, known.run) != (new.source, new.run)
        ]
        return changed(session, diagnoses=affordable([*kept, new]))

    def said(self, session: Session) -> str:
        """What it does."""
        new = self.diagnosis
        if not new.is_claudes:
            return f"diagnosis by {new.source}: {new.status}"
        asked = new.body.get("question")
        if isinstance(asked, str) and asked.strip():
            return f"question to Claude: {clipped(asked)}"
        return f"second opinion by Claude: {new.status or 'no status'}"


def _in_order(entries: tuple[TimelineEntry, ...]) -> tuple[TimelineEntry, ...]:
    """What the app read is in order already; what a person tells goes where it belongs."""
    ordered: list[TimelineEntry] = []
    for entry in dict.fromkeys(entries):
        place = len(ordered)
        if entry.source == "person":
            place = next((i for i, other in enumerate(ordered) if _is_before(entry, other)), place)
        ordered.insert(place, entry)
    return tuple(ordered)


def _is_before(one: TimelineEntry, other: TimelineEntry) -> bool:
    if one.at and other.at:
        return one.at.timestamp() < other.at.timestamp()
    return one.step is not None and other.step is not None and one.step < other.step

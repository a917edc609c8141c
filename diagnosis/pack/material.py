"""What a pack is made of: runs, what was found in them, and what is known beside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import NamedTuple

from mltd.analyzers.core.finding import Evidence, EvidenceKind
from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.run import Run
from mltd.sessions.model.session import Session

from ..artifacts import ArtifactBook, ArtifactError, Place
from ..tools.tool import Page

SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class PackConstraints:
    """What whoever reads the pack has to keep to."""

    seconds: float = SECONDS
    tokens: int | None = None
    """Budget for everything that is read and written in answer; None if there is none."""
    task: str = ""
    """What the user wants to know beyond the usual; empty for the usual."""


@dataclass(frozen=True, slots=True)
class PackMaterial:
    """Everything that may be told; no clock is looked at."""

    runs: Mapping[str, Run]
    diagnoses: Mapping[str, Diagnosis]
    book: ArtifactBook
    """Made from the same runs: its names are those that citations use."""
    session: Session | None = None
    constraints: PackConstraints = PackConstraints()
    states: Mapping[str, str] = field(default_factory=dict)
    """Whether each run still goes, in words, judged by whoever knows what time it is."""
    problems: tuple[str, ...] = ()
    """What could not be read, in a sentence each."""

    def subjects(self) -> list[Subject]:
        """The runs under the names that the book has for them, the incident itself first."""
        incident = self.session.run("") if self.session is not None else None
        known = [
            Subject(self, called, key, self.runs[key], self.diagnoses.get(key))
            for key, called in self.book.run_names.items()
            if key in self.runs
        ]
        return sorted(known, key=lambda one: incident is not None and one.key != incident.id)


class Subject(NamedTuple):
    """One run as the sections see it."""

    material: PackMaterial
    called: str
    key: str
    run: Run
    diagnosis: Diagnosis | None

    @property
    def book(self) -> ArtifactBook:
        """Where its files are read."""
        return self.material.book

    def place(self, ref: str) -> Place | None:
        """The lines of a file that a reference means; None if it is no file of the session."""
        try:
            return self.book.place(ref, self.called)
        except ArtifactError:
            return None

    def ref(self, evidence: Evidence) -> str:
        """Where evidence stands, files by the names that citations use."""
        return self.named(evidence.ref) if evidence.kind is EvidenceKind.LOG else evidence.ref

    def named(self, ref: str) -> str:
        """A line of a file by the name that citations use; anything else as it is."""
        place = self.place(ref)
        if place is None:
            return ref
        line = "" if place.first is None else f":{place.first}"
        return f"{place.artifact.name}{line}"

    def evidence(self) -> Iterator[tuple[str, float | None, Evidence]]:
        """What it is evidence for, where that began, and the evidence: alarms, causes, the rest."""
        if self.diagnosis is None:
            return
        alarms = [finding for finding in self.diagnosis.findings if finding.is_alarm]
        quiet = [finding for finding in self.diagnosis.findings if not finding.is_alarm]
        for finding in alarms:
            yield from ((finding.id, finding.first_step, one) for one in finding.evidence)
        for cause in self.diagnosis.root_causes:
            both = (*cause.evidence, *cause.against)
            yield from ((cause.id, cause.first_step, one) for one in both)
        for finding in quiet:
            yield from ((finding.id, finding.first_step, one) for one in finding.evidence)


def interleaved(of_runs: Iterable[Iterable[Page]]) -> list[Page]:
    """The first page of each run, then the second of each: where room is short, all have some."""
    in_turn = chain.from_iterable(zip_longest(*of_runs))
    return [page for page in in_turn if page is not None]

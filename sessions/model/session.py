"""A session: everything about one incident."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from pydantic import Field

from .base import Part
from .checklist import CheckMark, Phase
from .constraints import Constraints
from .experiment import Experiment
from .hypothesis import Hypothesis
from .records import Decision, DiagnosisRecord, Note, Prevention
from .run_ref import RunPart, RunRef

SCHEMA = 1

_Named = TypeVar("_Named", RunRef, Hypothesis, Experiment, Note, Decision, Prevention)


class Session(Part):
    """The state of a triage; order of hypotheses and experiments is the user's."""

    id: str
    title: str
    created: datetime
    phase: Phase = Phase.INTAKE
    is_archived: bool = False
    runs: tuple[RunRef, ...] = ()
    constraints: Constraints = Constraints()
    hypotheses: tuple[Hypothesis, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    marks: dict[str, CheckMark] = Field(default_factory=dict)
    """What is known about items of the checklist, by their id."""
    notes: tuple[Note, ...] = ()
    decisions: tuple[Decision, ...] = ()
    prevention: tuple[Prevention, ...] = ()
    diagnoses: tuple[DiagnosisRecord, ...] = ()
    owner: str = ""

    def run(self, id: str) -> RunRef | None:  # noqa: A002 - what it is
        """A run by its id; an empty id means the first run of the incident."""
        if not id:
            incident = (run for run in self.runs if run.part is RunPart.INCIDENT)
            return next(incident, None) or next(iter(self.runs), None)
        return _find(self.runs, id)

    def hypothesis(self, id: str) -> Hypothesis | None:  # noqa: A002 - what it is
        """A hypothesis by its id."""
        return _find(self.hypotheses, id)

    def experiment(self, id: str) -> Experiment | None:  # noqa: A002 - what it is
        """An experiment by its id."""
        return _find(self.experiments, id)

    def experiments_of(self, hypothesis: str) -> tuple[Experiment, ...]:
        """The experiments of one hypothesis, in the user's order."""
        return tuple(e for e in self.experiments if e.hypothesis == hypothesis)

    def diagnosis_of(self, run: str, source: str = "analyzers") -> DiagnosisRecord | None:
        """The newest diagnosis of a run."""
        found = (d for d in reversed(self.diagnoses) if d.source == source and d.run == run)
        return next(found, None)


def _find(parts: tuple[_Named, ...], id: str) -> _Named | None:  # noqa: A002 - what it is
    return next((part for part in parts if part.id == id), None)

"""The circumstances of an incident: what is known about them, and from where."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .base import Part
from .evidence import EvidenceRef


class Topic(StrEnum):
    """The questions that every triage begins with."""

    HARDWARE = "hardware"
    FRAMEWORK = "framework"
    DATA = "data"
    TARGETS = "targets"
    INCIDENT_START = "incident_start"
    REVISION = "revision"
    SEEDS = "seeds"

    @property
    def heading(self) -> str:
        """In words."""
        return _TITLES[self]

    @property
    def question(self) -> str:
        """What to ask a person for."""
        return _QUESTIONS[self]


_TITLES = {
    Topic.HARDWARE: "hardware",
    Topic.FRAMEWORK: "framework and versions",
    Topic.DATA: "data provenance",
    Topic.TARGETS: "metric targets",
    Topic.INCIDENT_START: "incident start",
    Topic.REVISION: "code revision",
    Topic.SEEDS: "seeds",
}
_QUESTIONS = {
    Topic.HARDWARE: "Which accelerators, how many, which nodes? e.g. 8x A100 80GB on gpu-17",
    Topic.FRAMEWORK: "Which framework, at which version? e.g. torch 2.4.1, cuda 12.1",
    Topic.DATA: "Which data, which version, how prepared? e.g. c4-en 2026-03, shuffled",
    Topic.TARGETS: "What should it reach? e.g. val/loss below 2.10 by step 50,000",
    Topic.INCIDENT_START: "When did it begin? e.g. step 24,590, or a date",
    Topic.REVISION: "Which commit, and what changed last? e.g. 4f1c2ab, new tokenizer",
    Topic.SEEDS: "Which seeds, for what? e.g. seed 42 for model and data",
}


class Fact(Part):
    """An answer, and who gave it."""

    value: str = Field(min_length=1)
    source: str = "person"
    """person, log, config, series or file: everything but a person is marked as pre-filled."""
    evidence: tuple[EvidenceRef, ...] = ()
    is_complete: bool = True
    """False if it only says what is around the answer."""

    @property
    def is_prefilled(self) -> bool:
        """True if the app read it somewhere, and nobody has confirmed it."""
        return self.source != "person"


class TimelineEntry(Part):
    """Something that happened, at a moment, at a step, or both."""

    text: str = Field(min_length=1)
    at: datetime | None = None
    step: float | None = None
    evidence: EvidenceRef | None = None
    source: str = "person"


class Constraints(Part):
    """All answers so far."""

    facts: dict[Topic, Fact] = Field(default_factory=dict)
    timeline: tuple[TimelineEntry, ...] = ()

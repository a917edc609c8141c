"""What is written down along the way: notes, decisions, diagnoses, prevention."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue

from .base import Part


class Note(Part):
    """Something worth remembering."""

    id: str
    at: datetime
    text: str = Field(min_length=1)


class Decision(Part):
    """What was decided, and why."""

    id: str
    at: datetime
    text: str = Field(min_length=1)
    because: str = ""


class PreventionKind(StrEnum):
    """How it is to be kept from coming back."""

    MONITOR = "monitor"
    TEST = "test"
    CHANGE = "change"
    DOCUMENT = "document"


class Prevention(Part):
    """Something that keeps the incident from coming back, and who sees to it."""

    id: str
    text: str = Field(min_length=1)
    kind: PreventionKind = PreventionKind.MONITOR
    owner: str = ""
    is_done: bool = False


class DiagnosisRecord(Part):
    """A diagnosis as it was received, whether from the analyzers or from a second opinion."""

    at: datetime
    source: str
    """analyzers or claude."""
    run: str = ""
    status: str = ""
    body: dict[str, JsonValue] = Field(default_factory=dict)
    """The contract's diagnosis object."""

    @property
    def is_claudes(self) -> bool:
        """True if somebody asked Claude for it."""
        return self.source == "claude"

    @property
    def has_opinion(self) -> bool:
        """True if it says what may be wrong, and is not words alone or a failure."""
        return bool(self.body.get("opinion") or self.body.get("root_causes"))

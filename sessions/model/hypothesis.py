"""Hypotheses: what might explain the incident, how sure, and why that changed."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .base import Part
from .confidence import Confidence, ConfidenceChange
from .evidence import EvidenceRef


class HypothesisStatus(StrEnum):
    """Where a hypothesis stands."""

    OPEN = "open"
    TESTING = "testing"
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    PARKED = "parked"


class SuggestedFix(Part):
    """A fix that an analyzer or a second opinion proposed, for the form of an experiment."""

    change: str
    example: str = ""
    expected_impact: str = ""
    verify: str = ""
    if_it_fails: str = ""
    reversible: bool = True
    is_quick: bool = False
    addresses: str = ""
    """The root-cause id it is for."""


class Hypothesis(Part):
    """A statement that could turn out to be wrong."""

    id: str
    """H1, H2, ..."""
    statement: str = Field(min_length=1)
    cause: str = ""
    """Failure-mode id of the catalogue; empty if it is nobody's but the user's."""
    status: HypothesisStatus = HypothesisStatus.OPEN
    confidence: Confidence
    evidence: tuple[EvidenceRef, ...] = ()
    against: tuple[EvidenceRef, ...] = ()
    history: tuple[ConfidenceChange, ...] = ()
    fixes: tuple[SuggestedFix, ...] = ()
    explains: tuple[str, ...] = ()
    """Ids of the findings that it explains."""
    requests: tuple[str, ...] = ()
    """What to provide or log to tell it from its rivals."""
    source: str = "person"
    """person, analyzers or claude."""
    run: str = ""
    """Id of the session's run that it is about."""
    severity: str = ""
    """info, warning or critical; empty if nobody said."""
    created: datetime

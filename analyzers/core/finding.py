"""Findings: symptoms that the artifacts show, each with the place where they show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """For sorting: 0 is mild."""
        return ("info", "warning", "critical").index(self.value)


class Basis(StrEnum):
    """What a statement rests on, and so how sure it may be."""

    OBSERVATION = "observation"
    RESEARCH = "research"
    INFERENCE = "inference"

    @property
    def ceiling(self) -> float:
        """No statement with this basis is surer than this."""
        return _CEILINGS[self]


_CEILINGS = {Basis.OBSERVATION: 0.95, Basis.RESEARCH: 0.85, Basis.INFERENCE: 0.70}


class EvidenceKind(StrEnum):
    """Where a piece of evidence stands."""

    SERIES = "series"
    LOG = "log"
    CONFIG = "config"
    CHECKPOINT = "checkpoint"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact and where it stands; `quote` is the text or the value as it stands there."""

    kind: EvidenceKind
    ref: str
    quote: str


BROKE_AT = "broke_at"
"""Detail of a finding that a rise led to: the step at which it broke out, behind its first one."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A symptom. It cannot be built without evidence, nor surer than its basis allows."""

    id: str
    title: str
    severity: Severity
    confidence: float
    basis: Basis
    evidence: tuple[Evidence, ...]
    first_step: float | None = None
    """Where it began, not where it was noticed."""
    last_step: float | None = None
    """Where it ended; None if it goes on."""
    details: Mapping[str, float | str] = field(default_factory=dict)
    """Numbers that the ranking of causes looks at; part of no output."""

    def __post_init__(self) -> None:
        """Refuse what could not be shown to anyone."""
        if not self.evidence:
            raise ValueError(f"{self.id}: a finding needs evidence")
        if not 0.0 <= self.confidence <= self.basis.ceiling:
            raise ValueError(f"{self.id}: {self.confidence} is not within its {self.basis} ceiling")
        if not self.title:
            raise ValueError(f"{self.id}: a finding needs a title")

    @property
    def is_alarm(self) -> bool:
        """True if someone should look."""
        return self.severity is not Severity.INFO

    def number(self, name: str, default: float = 0.0) -> float:
        """One of the details as a number."""
        value = self.details.get(name, default)
        return value if isinstance(value, int | float) else default


def times(factor: float) -> str:
    """A factor as one would say it: 2.46x, 18.3x, 1,020x, 3e+12x."""
    if not 1e-3 <= abs(factor) < 1e6:
        return f"{factor:.3g}x"
    return f"{factor:,.0f}x" if abs(factor) >= 100 else f"{factor:.3g}x"

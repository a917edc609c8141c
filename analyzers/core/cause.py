"""Root causes: hypotheses that explain findings, with evidence for and against, and fixes."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Basis, Evidence, EvidenceKind, Severity


@dataclass(frozen=True, slots=True)
class Clue:
    """A piece of evidence and how strongly it speaks for a cause, or against it.

    `weight` is the share of the remaining doubt that it removes (0..1); negative: the share of
    the belief. What one instrument shows (one metric, the log's text, the config, a checkpoint,
    the scheduler, another run) is one kind of evidence however often it shows it; a cause above
    the inference ceiling needs two kinds.
    """

    weight: float
    evidence: Evidence
    source: str = ""
    states: bool = False
    """The artifact says literally that this is the cause."""

    @property
    def kind(self) -> str:
        """The kind of evidence that it counts as."""
        if self.source:
            return self.source
        if self.evidence.kind is EvidenceKind.SERIES:
            return f"series {self.evidence.ref.partition('@')[0]}"
        return self.evidence.kind.value


@dataclass(frozen=True, slots=True)
class Fix:
    """Something to try. Nothing here touches a file; all of it can be taken back."""

    addresses: str
    change: str
    """What to change, in one line, with the run's own values where they are known."""
    example: str
    """The line of code, config or command that does it."""
    expected_impact: str
    """Which metric, which way, how much, by when."""
    verify: str
    if_it_fails: str
    reversible: bool = True
    is_quick: bool = False
    """It needs no training from scratch."""

    def __post_init__(self) -> None:
        """A fix is complete or it is none."""
        for name in ("addresses", "change", "example", "expected_impact", "verify", "if_it_fails"):
            if not getattr(self, name):
                raise ValueError(f"a fix for {self.addresses or 'nothing'} lacks its {name}")


@dataclass(frozen=True, slots=True)
class RootCause:
    """A hypothesis with its evidence; the ranking puts the best first."""

    id: str
    issue: str
    severity: Severity
    explains: tuple[str, ...]
    confidence: float
    basis: Basis
    evidence: tuple[Evidence, ...]
    against: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    requests: tuple[str, ...] = ()
    """What would tell this cause from its rivals."""
    first_step: float | None = None

    def __post_init__(self) -> None:
        """Refuse a cause that no evidence supports."""
        if not self.evidence:
            raise ValueError(f"{self.id}: a root cause needs evidence")
        if not 0.0 <= self.confidence <= self.basis.ceiling:
            raise ValueError(f"{self.id}: {self.confidence} is not within its {self.basis} ceiling")

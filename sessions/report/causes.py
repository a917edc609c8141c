"""What may have caused the incident, best first: hypotheses, then what nobody took up yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mltd.analyzers.core.finding import Basis

from ..model.evidence import EvidenceRef
from ..model.hypothesis import Hypothesis, HypothesisStatus, SuggestedFix
from ..model.session import Session
from .pieces import Described, Piece, number, parts, text, texts

ENOUGH = 0.80
"""Below this the report says which data would decide."""
LIKELY = 0.50
"""Below this an unconfirmed cause is a guess, and is called one."""
MOST_UNCONFIRMED = 3
_ORDER = (
    HypothesisStatus.CONFIRMED,
    HypothesisStatus.TESTING,
    HypothesisStatus.OPEN,
    HypothesisStatus.PARKED,
    HypothesisStatus.REFUTED,
)


@dataclass(frozen=True, slots=True)
class Cause:
    """One explanation, whoever gave it."""

    label: str
    """H1, or empty if it is on nobody's list."""
    statement: str
    cause: str
    """Failure-mode id of the catalogue, if it has one."""
    status: HypothesisStatus | None
    """None: nobody took it up."""
    confidence: float
    basis: str
    ceiling: float
    evidence: tuple[Piece, ...]
    against: tuple[Piece, ...] = ()
    explains: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    fixes: tuple[SuggestedFix, ...] = ()
    source: str = "person"
    severity: str = ""
    first_step: float | None = None

    @property
    def is_confirmed(self) -> bool:
        """True if the triage ended with it."""
        return self.status is HypothesisStatus.CONFIRMED

    @property
    def is_alive(self) -> bool:
        """True if it may still be the cause."""
        return self.status not in (HypothesisStatus.REFUTED, HypothesisStatus.PARKED)

    @property
    def said(self) -> str:
        """Number, basis and ceiling: never the number alone."""
        return f"{self.confidence:.2f}, basis {self.basis}, ceiling {self.ceiling:.2f}"


def causes_of(session: Session, diagnosis: Described | None) -> list[Cause]:
    """All explanations: confirmed ones, then the surest that are still alive, then the rest."""
    known = [_of_hypothesis(hypothesis) for hypothesis in session.hypotheses]
    taken = {cause.cause for cause in known if cause.cause}
    fresh = [cause for cause in _of_diagnosis(diagnosis) if cause.cause not in taken]
    # Sorting is stable: of equally sure ones the user's order counts.
    return sorted(
        [*known, *fresh],
        key=lambda cause: (not cause.is_confirmed, not cause.is_alive, -cause.confidence),
    )


def best(causes: Sequence[Cause]) -> Cause | None:
    """The cause to name if only one can be named."""
    return next((cause for cause in causes if cause.is_alive), None)


def by_status(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Confirmed first, refuted last; within a status the user's order."""
    return sorted(hypotheses, key=lambda hypothesis: _ORDER.index(hypothesis.status))


def _of_hypothesis(hypothesis: Hypothesis) -> Cause:
    return Cause(
        label=hypothesis.id,
        statement=hypothesis.statement,
        cause=hypothesis.cause,
        status=hypothesis.status,
        confidence=hypothesis.confidence.value,
        basis=hypothesis.confidence.basis.value,
        ceiling=hypothesis.confidence.ceiling,
        evidence=tuple(_piece(ref) for ref in hypothesis.evidence),
        against=tuple(_piece(ref) for ref in hypothesis.against),
        explains=hypothesis.explains,
        requests=hypothesis.requests,
        fixes=hypothesis.fixes,
        source=hypothesis.source,
        severity=hypothesis.severity,
    )


def _piece(ref: EvidenceRef) -> Piece:
    return Piece(ref.kind.value, ref.ref, ref.quote, ref.run)


def _of_diagnosis(diagnosis: Described | None) -> Iterator[Cause]:
    for one in parts(diagnosis or {}, "root_causes"):
        basis = text(one, "basis") or Basis.INFERENCE.value
        known = basis in [b.value for b in Basis]
        ceiling = Basis(basis).ceiling if known else Basis.INFERENCE.ceiling
        name = text(one, "id")
        yield Cause(
            label="",
            statement=text(one, "issue") or name,
            cause=name,
            status=None,
            confidence=min(ceiling, number(one, "confidence") or 0.0),
            basis=basis if known else Basis.INFERENCE.value,
            ceiling=ceiling,
            evidence=tuple(_pieces(one, "evidence")),
            against=tuple(_pieces(one, "against")),
            explains=tuple(texts(one, "explains")),
            fixes=tuple(_fixes(diagnosis or {}, name)),
            source="analyzers",
            severity=text(one, "severity"),
            first_step=number(one, "first_step"),
        )


def _pieces(one: Described, name: str) -> Iterator[Piece]:
    for ref in parts(one, name):
        if text(ref, "ref"):
            yield Piece(text(ref, "kind"), text(ref, "ref"), text(ref, "quote"), "")


def _fixes(diagnosis: Described, cause: str) -> Iterator[SuggestedFix]:
    quick = set(texts(diagnosis, "quick_fixes"))
    for fix in parts(diagnosis, "recommended_fixes"):
        done = fix.get("implementation")
        change = text(done, "change") if isinstance(done, dict) else ""
        if text(fix, "addresses") == cause and change:
            yield SuggestedFix(
                change=change,
                example=text(done, "example") if isinstance(done, dict) else "",
                expected_impact=text(fix, "expected_impact"),
                verify=text(fix, "verify"),
                if_it_fails=text(fix, "if_it_fails"),
                reversible=fix.get("reversible") is not False,
                is_quick=change in quick,
                addresses=cause,
            )

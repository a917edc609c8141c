"""From what the analyzers say to what a triage is made of: hypotheses, plans, records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from mltd.analyzers.core.cause import Fix, RootCause
from mltd.analyzers.core.finding import Basis, Evidence, Finding
from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.describing import describe_diagnosis

from .errors import Refused
from .model.confidence import Confidence, ConfidenceChange
from .model.evidence import EvidenceRef, referred
from .model.hypothesis import Hypothesis, SuggestedFix
from .model.records import DiagnosisRecord
from .planning import ENDINGS, plan_for

__all__ = ["best_for", "by_hand", "from_cause", "from_finding", "plan_for", "record_of"]

UNKNOWN_CAUSE = 0.3
"""That a symptom has one cause which can be found is believed this much, and no more."""
BY_HAND = 0.5
"""Where somebody states a hypothesis and does not say how sure they are."""


def from_cause(
    id: str,  # noqa: A002 - what it is
    cause: RootCause,
    at: datetime,
    run: str = "",
    source: str = "analyzers",
) -> Hypothesis:
    """A root cause as a hypothesis, with its evidence on both sides and its fixes."""
    confidence = _within(float(cause.confidence), cause.basis)
    # Who says so is told by the source beside it.
    reason = f"explains {', '.join(cause.explains)}" if cause.explains else "as first stated"
    return Hypothesis(
        id=id,
        statement=cause.issue,
        cause=cause.id,
        confidence=confidence,
        evidence=_referred(cause.evidence, run),
        against=_referred(cause.against, run),
        history=(ConfidenceChange(at=at, confidence=confidence, reason=reason, source=source),),
        fixes=tuple(_suggested(fix) for fix in cause.fixes),
        explains=cause.explains,
        requests=cause.requests,
        source=source,
        run=run,
        severity=cause.severity.value,
        created=at,
    )


def from_finding(
    id: str,  # noqa: A002 - what it is
    finding: Finding,
    at: datetime,
    run: str = "",
    source: str = "analyzers",
) -> Hypothesis:
    """A symptom that no known cause explains: its cause is what is to be found out.

    How sure the symptom is says nothing about its cause, so the confidence is low and inferred.
    Where a root cause explains the finding (`best_for`), take that one over instead.
    """
    confidence = Confidence(value=UNKNOWN_CAUSE, basis=Basis.INFERENCE)
    reason = f"{finding.id} was seen, and no known cause explains it"
    return Hypothesis(
        id=id,
        statement=f"{finding.title}: cause not known yet",
        confidence=confidence,
        evidence=_referred(finding.evidence, run),
        history=(ConfidenceChange(at=at, confidence=confidence, reason=reason, source=source),),
        explains=(finding.id,),
        source=source,
        run=run,
        severity=finding.severity.value,
        created=at,
    )


def best_for(diagnosis: Diagnosis, finding: Finding) -> RootCause | None:
    """The best of the root causes that explain a finding.

    An exception stands beside the finding that says what it means, so the best that explains an
    end of the run explains it too; failing that, the best one of all.
    """
    causes = diagnosis.root_causes
    if finding.id == "exception":
        fatal = (cause for cause in causes if not ENDINGS.isdisjoint(cause.explains))
        return next(fatal, None) or next(iter(causes), None)
    return next((cause for cause in causes if finding.id in cause.explains), None)


def by_hand(
    id: str,  # noqa: A002 - what it is
    statement: str,
    at: datetime,
    *,
    value: float = BY_HAND,
    basis: Basis = Basis.INFERENCE,
    reason: str = "",
    cause: str = "",
    run: str = "",
    evidence: Sequence[EvidenceRef] = (),
) -> Hypothesis:
    """What somebody thinks; a confidence that the basis cannot bear is refused."""
    said = " ".join(statement.split())
    if not said:
        raise Refused("a hypothesis needs a statement: what might be the cause?")
    confidence = Confidence(value=value, basis=basis)
    why = reason.strip() or "as first stated"
    return Hypothesis(
        id=id,
        statement=said,
        cause=cause,
        confidence=confidence,
        evidence=tuple(evidence),
        history=(ConfidenceChange(at=at, confidence=confidence, reason=why),),
        run=run,
        created=at,
    )


def record_of(
    diagnosis: Diagnosis, at: datetime, run: str = "", source: str = "analyzers"
) -> DiagnosisRecord:
    """A diagnosis to be kept, in values that every JSON reader understands."""
    body = {name: _plain(value) for name, value in describe_diagnosis(diagnosis).items()}
    return DiagnosisRecord(at=at, source=source, run=run, status=diagnosis.status, body=body)


def _within(value: float, basis: Basis) -> Confidence:
    return Confidence(value=min(max(value, 0.0), basis.ceiling), basis=basis)


def _referred(evidence: Sequence[Evidence], run: str) -> tuple[EvidenceRef, ...]:
    refs = (referred(piece, run) for piece in evidence if piece.ref)
    return tuple(dict.fromkeys(refs))


def _suggested(fix: Fix) -> SuggestedFix:
    return SuggestedFix(
        change=fix.change,
        example=fix.example,
        expected_impact=fix.expected_impact,
        verify=fix.verify,
        if_it_fails=fix.if_it_fails,
        reversible=fix.reversible,
        is_quick=fix.is_quick,
        addresses=fix.addresses,
    )


def _plain(value: object) -> JsonValue:
    """Non-finite numbers as text, numpy's numbers as numbers, anything else as it reads."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        return float(value) if math.isfinite(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    item = getattr(value, "item", None)
    return _plain(item()) if callable(item) else str(value)

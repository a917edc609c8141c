"""From a root cause of Claude's to a hypothesis of the session."""

from __future__ import annotations

from datetime import datetime

from mltd.sessions.model.confidence import Confidence, ConfidenceChange
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.hypothesis import Hypothesis, SuggestedFix

from ..answer.citation import FindingCitation, quote_of
from .checked import CheckedCause, CheckedCitation, CheckedFix, CheckedOpinion
from .record import describe_place, places

SOURCE = "claude"


def hypothesis_of(
    id: str,  # noqa: A002 - what it is
    checked: CheckedCause,
    whole: CheckedOpinion,
    at: datetime,
    run: str = "",
) -> Hypothesis:
    """The cause with what held of its evidence, and as sure as that bears; marked as Claude's."""
    cause = checked.cause
    confidence = Confidence(value=checked.confidence, basis=cause.basis)
    reason = "; ".join(("second opinion by Claude", *checked.notes))
    found = (one.citation for one in checked.evidence if one.is_confirmed)
    cited = [one.id for one in found if isinstance(one, FindingCitation)]
    return Hypothesis(
        id=id,
        statement=cause.issue,
        cause=cause.failure_mode if checked.is_known else "",
        confidence=confidence,
        evidence=tuple(_ref(one, run) for one in places(checked.evidence)),
        against=tuple(_ref(one, run) for one in places(checked.against)),
        history=(ConfidenceChange(at=at, confidence=confidence, reason=reason, source=SOURCE),),
        fixes=tuple(
            _suggested(one)
            for one in whole.recommended_fixes
            if one.fix.addresses in (cause.failure_mode, "") and not one.is_destructive
        ),
        explains=tuple(dict.fromkeys((*cause.explains, *cited))),
        requests=tuple(need.what for need in whole.needed_data),
        source=SOURCE,
        run=run,
        severity=cause.severity.value,
        created=at,
    )


def _ref(checked: CheckedCitation, run: str) -> EvidenceRef:
    kind = RefKind(str(describe_place(checked)["kind"]))
    return EvidenceRef(kind=kind, ref=checked.ref, quote=quote_of(checked.citation), run=run)


def _suggested(checked: CheckedFix) -> SuggestedFix:
    fix = checked.fix
    return SuggestedFix(
        change=fix.change,
        example=fix.example,
        expected_impact=": ".join(part for part in (fix.metric, fix.expected_impact) if part),
        verify=fix.verify,
        if_it_fails=fix.if_it_fails,
        reversible=fix.is_reversible,
        addresses=fix.addresses,
    )

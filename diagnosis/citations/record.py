"""A checked opinion as the session keeps it: the contract's diagnosis object, and all of it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from mltd.analyzers.core.finding import Basis

from ..answer.citation import FindingCitation, SourceCitation, quote_of
from ..answer.opinion import Fix
from .checked import CheckedCause, CheckedCitation, CheckedOpinion

KEY = "opinion"
"""Where the whole of it is, beside what every reader of a diagnosis knows."""


def describe_opinion(checked: CheckedOpinion) -> dict[str, JsonValue]:
    """The contract's diagnosis object; what did not hold is no evidence in it.

    Its evidence points into artifacts, so counter-arguments in words are in the whole of it alone.
    """
    return {
        "status": checked.status.value,
        "findings": [],
        "root_causes": [_cause(cause, checked) for cause in checked.causes],
        # Whoever copies from here to a shell must not get what deletes or overwrites.
        "quick_fixes": [one.text for one in checked.quick_fixes if not one.is_destructive],
        "destructive_quick_fixes": [one.text for one in checked.quick_fixes if one.is_destructive],
        "recommended_fixes": [
            _fix(one.fix, is_destructive=one.is_destructive) for one in checked.recommended_fixes
        ],
        "requests": [
            ": ".join(part for part in (need.what, need.why) if part)
            for need in checked.needed_data
        ],
        KEY: checked.model_dump(mode="json"),
    }


def opinion_in(body: dict[str, JsonValue]) -> CheckedOpinion | None:
    """The opinion that a kept diagnosis holds; None if it holds none that can be read."""
    try:
        return CheckedOpinion.model_validate(body.get(KEY))
    except ValueError:
        return None


def _cause(checked: CheckedCause, whole: CheckedOpinion) -> dict[str, JsonValue]:
    cause = checked.cause
    fixes = [
        one.fix.change
        for one in whole.recommended_fixes
        if one.fix.addresses == cause.failure_mode and not one.is_destructive
    ]
    return {
        "id": cause.failure_mode,
        "issue": cause.issue,
        "severity": cause.severity.value,
        "explains": list(cause.explains),
        "confidence": checked.confidence,
        "basis": cause.basis.value,
        "ceiling": Basis(cause.basis).ceiling,
        "evidence": [describe_place(one) for one in places(checked.evidence)],
        "against": [describe_place(one) for one in places(checked.against)],
        "fix": fixes[0] if fixes else None,
        "first_step": None,
    }


def places(found: Iterable[CheckedCitation | str]) -> list[CheckedCitation]:
    """Those that hold and point into an artifact, as evidence must."""
    return [
        one
        for one in found
        if isinstance(one, CheckedCitation)
        and one.is_confirmed
        and not isinstance(one.citation, FindingCitation)
    ]


def describe_place(checked: CheckedCitation) -> dict[str, JsonValue]:
    """One entry of `evidence`; source code is cited by file and line, as logs are."""
    kind = "log" if isinstance(checked.citation, SourceCitation) else checked.citation.kind
    return {"kind": kind, "ref": checked.ref, "quote": quote_of(checked.citation)}


def _fix(fix: Fix, *, is_destructive: bool) -> dict[str, JsonValue]:
    impact = ": ".join(part for part in (fix.metric, fix.expected_impact) if part)
    return {
        "priority": fix.priority,
        "addresses": fix.addresses,
        "implementation": {"change": fix.change, "example": fix.example},
        "expected_impact": impact,
        "verify": fix.verify,
        "if_it_fails": fix.if_it_fails,
        "reversible": fix.is_reversible,
        "destructive": is_destructive,
    }

"""A diagnosis as the contract has it: plain values for JSON, wherever it is written down."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core.cause import Fix, RootCause
    from .core.finding import Evidence, Finding
    from .core.verdict import Diagnosis


def describe_diagnosis(diagnosis: Diagnosis) -> dict[str, object]:
    """The contract's diagnosis object: everything but the run itself."""
    fixes = diagnosis.fixes
    return {
        "status": diagnosis.status,
        "findings": [describe_finding(finding) for finding in diagnosis.findings],
        "root_causes": [describe_cause(cause) for cause in diagnosis.root_causes],
        "ties": [list(pair) for pair in diagnosis.ties],
        "quick_fixes": [fix.change for fix in fixes if fix.is_quick],
        "recommended_fixes": [
            describe_fix(priority, fix) for priority, fix in enumerate(fixes, start=1)
        ],
        "requests": list(diagnosis.requests),
    }


def describe_finding(finding: Finding) -> dict[str, object]:
    """One entry of `findings`."""
    return {
        "id": finding.id,
        "title": finding.title,
        "severity": finding.severity.value,
        "confidence": finding.confidence,
        "basis": finding.basis.value,
        "ceiling": finding.basis.ceiling,
        "first_step": _step(finding.first_step),
        "last_step": _step(finding.last_step),
        "evidence": [_describe_evidence(evidence) for evidence in finding.evidence],
    }


def describe_cause(cause: RootCause) -> dict[str, object]:
    """One entry of `root_causes`."""
    return {
        "id": cause.id,
        "issue": cause.issue,
        "severity": cause.severity.value,
        "explains": list(cause.explains),
        "confidence": cause.confidence,
        "basis": cause.basis.value,
        "ceiling": cause.basis.ceiling,
        "evidence": [_describe_evidence(evidence) for evidence in cause.evidence],
        "against": [_describe_evidence(evidence) for evidence in cause.against],
        "fix": cause.fixes[0].change if cause.fixes else None,
        "first_step": _step(cause.first_step),
    }


def describe_fix(priority: int, fix: Fix) -> dict[str, object]:
    """One entry of `recommended_fixes`."""
    return {
        "priority": priority,
        "addresses": fix.addresses,
        "implementation": {"change": fix.change, "example": fix.example},
        "expected_impact": fix.expected_impact,
        "verify": fix.verify,
        "if_it_fails": fix.if_it_fails,
        "reversible": fix.reversible,
    }


def _describe_evidence(evidence: Evidence) -> dict[str, str]:
    return {"kind": evidence.kind.value, "ref": evidence.ref, "quote": evidence.quote}


def _step(step: float | None) -> float | int | None:
    """A step as the log counts: whole unless the run counts in parts of an epoch."""
    if step is None or not math.isfinite(step):
        return None
    return int(step) if float(step).is_integer() else float(step)

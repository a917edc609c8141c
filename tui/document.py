"""The document that `check --json` prints: a run and its diagnosis as the contract has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mltd.runs.run import Run
from mltd.runs.summary import describe_run, number

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import Fix, RootCause
    from mltd.analyzers.core.finding import Evidence, Finding
    from mltd.analyzers.diagnosis import Diagnosis

SCHEMA = 1


def document(run: Run, seconds: float, diagnosis: Diagnosis) -> dict[str, object]:
    """The contract's document; what nobody knows is null."""
    fixes = diagnosis.fixes
    return {
        "schema": SCHEMA,
        "status": diagnosis.status,
        "run": describe_run(run),
        "findings": [describe_finding(finding) for finding in diagnosis.findings],
        "root_causes": [_describe_cause(cause) for cause in diagnosis.root_causes],
        "ties": [list(pair) for pair in diagnosis.ties],
        "quick_fixes": [fix.change for fix in fixes if fix.is_quick],
        "recommended_fixes": [
            _describe_fix(priority, fix) for priority, fix in enumerate(fixes, start=1)
        ],
        "requests": list(diagnosis.requests),
        "analysis_artifacts": {"report": None, "loss_plot": None, "gradient_analysis": None},
        "seconds": round(seconds, 3),
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


def _describe_cause(cause: RootCause) -> dict[str, object]:
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


def _describe_fix(priority: int, fix: Fix) -> dict[str, object]:
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


def _step(step: float | None) -> float | int | str | None:
    """A step as the log counts: whole unless the run counts in parts of an epoch."""
    return number(step) if step is not None and math.isfinite(step) else None

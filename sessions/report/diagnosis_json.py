"""The report as the contract's diagnosis object, for other programs."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pydantic import JsonValue

from mltd.runs.summary import number

from ..model.hypothesis import HypothesisStatus
from .causes import ENOUGH, Cause
from .drawing import Gallery
from .fixes import FixPlan, FixState
from .neutral import neutral
from .opinion.kept import capped, kept_opinions
from .pieces import Piece, parts, text, texts
from .subject import Subject

SCHEMA = 1
REPORT = "report.md"
"""The Markdown report beside the JSON document, in the folder of the pictures."""
_DEEPEST = 24
_MOST_BITS = 1000
"""Of a whole number; more is none that other programs can read."""


def diagnosis_json(subject: Subject, gallery: Gallery) -> str:
    """One JSON document; what nobody knows is null."""
    fixes = [plan for plan in subject.fixes if plan.state is not FixState.TRIED]
    content: dict[str, object] = {
        "schema": SCHEMA,
        "status": _status(subject),
        "run": _run(subject),
        "findings": list(parts(subject.diagnosis or {}, "findings")),
        "root_causes": [_cause(cause) for cause in subject.causes if cause.is_alive],
        "quick_fixes": [plan.change for plan in fixes if plan.is_quick],
        "recommended_fixes": [_fix(n, plan) for n, plan in enumerate(fixes, start=1)],
        "requests": _requests(subject),
        "analysis_artifacts": _artifacts(subject, gallery),
        "seconds": subject.material.seconds,
        "session": _session(subject),
    }
    if opinions := kept_opinions(subject.session.diagnoses):
        content["second_opinions"] = opinions
    # Whether a value is a secret is often told by its key alone: they are cleaned together.
    cleaned = subject.pen.clean_value(_plain(content))
    if opinions and isinstance(cleaned, dict):
        cleaned["second_opinions"] = capped(cleaned["second_opinions"])
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(cleaned, option=options).decode()


def _status(subject: Subject) -> str:
    best = subject.best
    if best is not None and (best.is_confirmed or best.confidence >= ENOUGH):
        return "diagnosis_complete"
    if best is not None or subject.alarms:
        return "needs_more_data"
    return text(subject.diagnosis or {}, "status") or "needs_more_data"


def _run(subject: Subject) -> object:
    if subject.main.document is not None:
        return subject.main.document
    ref = subject.incident
    files = [{"path": one.path, "format": None, "bytes": None, "lines": None, "generations": None}
             for one in (ref.files if ref is not None else ())]  # fmt: skip
    return {
        "name": ref.label if ref is not None else None,
        "state": "unknown",
        "state_reason": subject.main.why_not or None,
        "files": files,
        "series": [],
        "events": [],
        "config": {},
        "artifacts": [],
    }


def _cause(cause: Cause) -> dict[str, object]:
    return {
        "id": cause.cause or None,
        "issue": cause.statement,
        "severity": cause.severity or None,
        "explains": list(cause.explains),
        "confidence": cause.confidence,
        "basis": cause.basis,
        "ceiling": cause.ceiling,
        "evidence": [_piece(piece) for piece in cause.evidence],
        "against": [_piece(piece) for piece in cause.against],
        "fix": cause.fixes[0].change if cause.fixes else None,
        "first_step": cause.first_step,
        "hypothesis": cause.label or None,
        "confirmed": cause.is_confirmed,
        **({"source": cause.source} if cause.source == "claude" else {}),
    }


def _piece(piece: Piece) -> dict[str, str]:
    return {"kind": piece.kind, "ref": piece.ref, "quote": piece.quote}


def _fix(priority: int, plan: FixPlan) -> dict[str, object]:
    return {
        "priority": priority,
        "addresses": plan.cause or plan.addresses or None,
        "implementation": {"change": plan.change, "example": plan.example or None},
        "expected_impact": plan.expected_impact or None,
        "verify": plan.verify or None,
        "if_it_fails": plan.if_it_fails or None,
        "reversible": plan.reversible,
        "state": plan.state.value,
        "experiment": plan.experiment or None,
        **({"preliminary": True} if plan.is_preliminary else {}),
        **({"source": plan.source} if plan.source == "claude" else {}),
    }


def _requests(subject: Subject) -> list[str]:
    best = subject.best
    asked = dict.fromkeys(texts(subject.diagnosis or {}, "requests"))
    if best is not None and not best.is_confirmed and best.confidence < ENOUGH:
        asked.update(dict.fromkeys(best.requests))
    return list(asked)


def _artifacts(subject: Subject, gallery: Gallery) -> dict[str, str | None]:
    """Files beside the document, as seen from it; null where nothing is written."""
    folder = subject.options.folder
    return {
        "report": f"{folder}/{REPORT}" if folder else None,
        "loss_plot": gallery.by_role.get("train/loss") or gallery.by_role.get("val/loss"),
        "gradient_analysis": gallery.by_role.get("grad_norm"),
    }


def _session(subject: Subject) -> dict[str, object]:
    session = subject.session
    refuted = [h for h in session.hypotheses if h.status is HypothesisStatus.REFUTED]
    return {
        "id": session.id or None,
        "title": session.title,
        "phase": session.phase.value,
        "owner": session.owner or None,
        "refuted": [{"hypothesis": h.id, "id": h.cause or None, "issue": h.statement}
                    for h in refuted],
        "prevention": [
            {"text": p.text, "kind": p.kind.value, "owner": p.owner or None, "done": p.is_done}
            for p in session.prevention
        ],
    }  # fmt: skip


def _plain(value: object, depth: int = 0) -> JsonValue:
    """The same as JSON can hold it: texts neutral, non-finite numbers as texts."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "inf" if value > 0 else "-inf"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {neutral(str(key)): _plain(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        return [_plain(part, depth + 1) for part in value]
    return neutral(str(value))

"""Answers as a model gives them, and opinions made of them."""

from __future__ import annotations

from typing import Any

from mltd.diagnosis.answer import Opinion, parse_opinion


def log(quote: str, line: int = 1, last: int | None = None, name: str = "train.log") -> Any:
    return {
        "kind": "log",
        "artifact": name,
        "first_line": line,
        "last_line": line if last is None else last,
        "quote": quote,
        "shows": "",
    }


def value(step: float, said: str, name: str = "loss", run: str = "") -> Any:
    return {"kind": "series", "run": run, "name": name, "step": step, "value": said, "shows": ""}


def setting(key: str, said: str) -> Any:
    return {"kind": "config", "run": "", "key": key, "value": said, "shows": ""}


def cause(*evidence: Any, **more: Any) -> dict[str, Any]:
    return {
        "issue": "the learning rate is too high",
        "failure_mode": "lr_too_high",
        "severity": "critical",
        "explains": [],
        "explanation": "",
        "evidence": list(evidence),
        "against": [],
        "confidence": 0.8,
        "basis": "research",
        **more,
    }


def fix(**more: Any) -> dict[str, Any]:
    return {
        "priority": 1,
        "title": "lower the learning rate",
        "addresses": "lr_too_high",
        "change": "lr 1e-2 -> 3e-3",
        "example": "lr: 3.0e-3",
        "metric": "train/loss",
        "expected_impact": "falls below 2.0 within 500 steps",
        "verify": "rerun 500 steps",
        "if_it_fails": "halve it again",
        "is_reversible": True,
        **more,
    }


def answer(*causes: Any, **more: Any) -> dict[str, Any]:
    return {
        "status": "diagnosis_complete" if causes else "needs_more_data",
        "summary": "The loss diverged.",
        "root_causes": list(causes),
        "quick_fixes": [],
        "recommended_fixes": [],
        "needed_data": [],
        "agreement": [],
        **more,
    }


def opinion(*causes: Any, **more: Any) -> Opinion:
    return parse_opinion(answer(*causes, **more))

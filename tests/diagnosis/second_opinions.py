"""A failing run with secrets in its log, and what a model could answer about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .messages_server import Block, tool

SECRETS = (
    "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZabcdefgh",
    "sk-ant-api03-" + "Zx9" * 30 + "-AA",
    "AKIA" + "Q7R2T9W4Y1P8L3K6",
    "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8",
)
BAD_LINE = "step 100 loss nan lr 0.003"
BAD_LINE_NUMBER = 101
INVENTED = "CUDA error: device-side assert triggered"


def write_log(path: Path) -> Path:
    """Loss turns nan at step 100, line 101; the last line but one is full of keys."""
    lines = ["seed: 42"]
    for step in range(1, 121):
        loss = "nan" if step >= 100 else f"{2.5 - step / 60:.4f}"
        lines.append(f"step {step} loss {loss} lr 0.003")
    lines.append("login " + " ".join(f"API_KEY={secret}" for secret in SECRETS))
    path.write_text("\n".join([*lines, "Traceback: loss is nan, giving up"]) + "\n")
    return path


def log_citation(line: int, quote: str) -> dict[str, Any]:
    return {
        "kind": "log",
        "artifact": "run1/train.log",
        "first_line": line,
        "last_line": line,
        "quote": quote,
        "shows": "the loss is lost",
    }


def submission(**changes: Any) -> Block:
    """The call by which the model answers: one citation that holds, one that is invented."""
    cause = {
        "issue": "The learning rate is too high for this model",
        "failure_mode": "lr_too_high",
        "severity": "critical",
        "explains": ["nan_loss"],
        "explanation": "The steps grow until the loss is no number.",
        "evidence": [log_citation(BAD_LINE_NUMBER, BAD_LINE), log_citation(7, INVENTED)],
        "against": ["grad_norm is not logged"],
        "confidence": 0.9,
        "basis": "observation",
    }
    fix = {
        "priority": 1,
        "title": "Lower the rate",
        "addresses": "lr_too_high",
        "change": "lr 3e-3 -> 3e-4",
        "example": "",
        "metric": "train/loss",
        "expected_impact": "falls past step 100",
        "verify": "no nan until step 200",
        "if_it_fails": "look at batch 100",
        "is_reversible": True,
    }
    answer = {
        "status": "diagnosis_complete",
        "summary": "The loss is nan from step 100 on.",
        "root_causes": [cause],
        "quick_fixes": [],
        "recommended_fixes": [fix],
        "needed_data": [],
        "agreement": [],
    }
    return tool("submit_diagnosis", **(answer | changes))

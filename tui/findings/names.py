"""Ids, places and severities in a reader's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..escaping import printable
from ..quantities import full_count

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Finding
    from mltd.analyzers.core.verdict import Diagnosis

GLYPHS = {"critical": "✖", "warning": "▲", "info": "●", "fine": "✔", "unknown": "?"}
_SPELLED = {
    "nan": "NaN",
    "inf": "Inf",
    "oom": "OOM",
    "lr": "LR",
    "relu": "ReLU",
    "gpu": "GPU",
    "cpu": "CPU",
    "nccl": "NCCL",
    "cuda": "CUDA",
    "io": "I/O",
    "init": "initialisation",
    "grad": "gradient",
    "wandb": "W&B",
    "fp16": "fp16",
}
_EPOCH = re.compile(r"\bepoch \d")
_STEP = re.compile(r"\bstep \d")


def spoken(identity: str) -> str:
    """An id as words: `host_oom` is `host OOM`."""
    return " ".join(_SPELLED.get(word, word) for word in printable(identity).split("_"))


def axis_word(diagnosis: Diagnosis) -> str:
    """What places are counted in: the titles tell, or a place between two whole numbers."""
    titles = " ".join(finding.title for finding in diagnosis.findings)
    if _STEP.search(titles):
        return "step"
    starts = [f.first_step for f in diagnosis.findings if f.first_step is not None]
    is_epoch = _EPOCH.search(titles) or any(start % 1 for start in starts)
    return "epoch" if is_epoch else "step"


def when(finding: Finding, axis: str = "step") -> str:
    """Since when, and until when if it is over; empty if no place is known."""
    if finding.first_step is None:
        return ""
    since = f"since {axis} {full_count(finding.first_step)}"
    if finding.last_step is None:
        return since
    if finding.last_step == finding.first_step:
        return f"at {axis} {full_count(finding.first_step)}"
    return f"{axis} {full_count(finding.first_step)} to {full_count(finding.last_step)}"

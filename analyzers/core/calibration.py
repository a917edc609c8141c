"""Calibration: from raw scores to how often such a score was right on the development runs.

The map is data (`calibration.json`), made by `benchmarks/faults` from its development split.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from .finding import Basis, EvidenceKind, Finding

_UNKNOWN = 0.15
"""Below the lowest score that was met, the map runs out within this distance."""


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Any]:
    file = resources.files(__package__).joinpath("calibration.json")
    content: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return content


@lru_cache(maxsize=1)
def _maps() -> dict[str, tuple[list[float], list[float]]]:
    maps = _shipped().get("maps", {})
    return {name: (entry["raw"], entry["right"]) for name, entry in maps.items()}


def calibrated(kind: str, basis: Basis, raw: float) -> float:
    """The share of right answers among statements of a kind ("finding", "cause") scored so."""
    return min(_share(kind, basis, raw), basis.ceiling)


def _share(kind: str, basis: Basis, raw: float) -> float:
    found = _maps().get(f"{kind}/{basis.value}") or _maps().get(kind)
    score = min(max(raw, 0.0), 1.0)
    if found is None:
        return score
    scores, right = found
    # Nothing scored lower on the development runs: doubt there stays what it was.
    known = scores[0] - _UNKNOWN
    return score if score < known else float(np.interp(score, [known, *scores], [known, *right]))


def cause_confidence(cause: str, basis: Basis, raw: float) -> float:
    """How often a best cause that scored so was right, by what is known about that very cause.

    Some causes are the last resort for many symptoms, others are seldom mistaken: the same
    score means less from the former.
    """
    return min(_reputed("causes", cause, _share("cause", basis, raw)), basis.ceiling)


def with_repute(finding: Finding) -> Finding:
    """The finding as sure as such findings were right where nobody had seen the run before.

    What a message says is as sure as its wording.
    """
    if all(one.kind in (EvidenceKind.LOG, EvidenceKind.JOB) for one in finding.evidence):
        return finding
    sure = _reputed("findings", finding.id, finding.confidence)
    return replace(finding, confidence=round(min(sure, finding.basis.ceiling), 3))


def _reputed(kind: str, name: str, share: float) -> float:
    if not _maps() or not 0.0 < share < 1.0:
        return share
    repute: float = _shipped().get("repute", {}).get(kind, {}).get(name, 0.0)
    odds = share / (1.0 - share) * math.exp(repute)
    return odds / (1.0 + odds)


def finding_confidence(basis: Basis, raw: float) -> float:
    """Confidence of a finding from its raw score."""
    return round(calibrated("finding", basis, raw), 3)

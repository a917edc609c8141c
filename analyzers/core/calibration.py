"""Calibration: from raw scores to how often such a score was right on the development runs.

The numbers are data (`calibration.json`), made by `benchmarks/faults` from its development split.
Findings have a map from score to share; causes a curve over how much their clues make believe
and how near the next best one comes.
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

_NEVER = 0.02
_RIVALRY = 0.3
"""Without measurements, the share that a best cause loses to an equal one."""
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


def cause_confidence(
    cause: str, basis: Basis, belief: float, rival: float, *, is_told: bool
) -> float:
    """How often a best cause of such belief was right, by what is known about that very cause.

    `rival` is the next best one's score as a share of its own: where two are as likely, one of
    them is wrong. Some causes are the last resort for many symptoms, others are seldom mistaken:
    the same belief means less from the former. A message that only hints is as sure as its
    wording.
    """
    if is_told and basis is not Basis.OBSERVATION:
        return basis.ceiling * belief
    curve = _shipped().get("causes", {}).get("stated" if is_told else "measured")
    if curve is None or not _maps():
        return basis.ceiling * belief * (1.0 - _RIVALRY * rival)
    odds: float = curve["base"] + curve["belief"] * log_odds(belief)
    odds += curve["rival"] * closeness(rival)
    if not is_told:
        odds += _shipped()["repute"]["causes"].get(cause, 0.0)
    return min(1.0 / (1.0 + math.exp(-odds)), basis.ceiling)


def log_odds(share: float) -> float:
    """The logarithm of odds; nothing is certain."""
    held = min(max(share, _NEVER), 1.0 - _NEVER)
    return math.log(held / (1.0 - held))


def closeness(rival: float) -> float:
    """How much a rival matters: one with half the score hardly does."""
    return rival**4


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

"""Calibration: from raw scores to how often such a score was right on the development runs.

The map is data (`calibration.json`), made by `benchmarks/faults` from its development split.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources

import numpy as np

from .finding import Basis

_UNKNOWN = 0.15
"""Below the lowest score that was met, the map runs out within this distance."""


@lru_cache(maxsize=1)
def _maps() -> dict[str, tuple[list[float], list[float]]]:
    file = resources.files(__package__).joinpath("calibration.json")
    if not file.is_file():
        return {}
    shipped = json.loads(file.read_text(encoding="utf-8"))
    return {name: (entry["raw"], entry["right"]) for name, entry in shipped["maps"].items()}


def calibrated(kind: str, basis: Basis, raw: float) -> float:
    """The share of right answers among statements of a kind ("finding", "cause") scored so."""
    found = _maps().get(f"{kind}/{basis.value}") or _maps().get(kind)
    score = min(max(raw, 0.0), 1.0)
    if found is None:
        return min(score, basis.ceiling)
    scores, right = found
    # Nothing scored lower on the development runs: doubt there stays what it was.
    known = scores[0] - _UNKNOWN
    share = score if score < known else np.interp(score, [known, *scores], [known, *right])
    return float(min(share, basis.ceiling))


def finding_confidence(basis: Basis, raw: float) -> float:
    """Confidence of a finding from its raw score."""
    return round(calibrated("finding", basis, raw), 3)

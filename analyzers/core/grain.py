"""The grain of printed numbers: how close two values can be."""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats


def grain(values: Floats) -> float:
    """The grid that few-digit printing or bf16 leaves; 0 where values are finer than they vary."""
    if len(values) < 8:
        return 0.0
    distinct = np.unique(values)
    if len(distinct) > max(20, len(values) // 4):
        return 0.0
    with np.errstate(over="ignore"):
        gaps = np.diff(distinct)
    return float(gaps.min()) if len(gaps) else 0.0

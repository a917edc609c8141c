"""Curves without their noise: a moving average that forgets exponentially along the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

SHARES = {"off": 0.0, "light": 0.01, "medium": 0.03, "strong": 0.1}
"""How far back an average remembers, as a share of the visible range."""


def smooth(
    x: Sequence[float], mean: Sequence[float], count: Sequence[int], memory: float
) -> list[float]:
    """The average so far at every bucket, each weighing as its points; NaN stays where it was."""
    total = weight = 0.0
    before = math.nan
    smoothed: list[float] = []
    for place, value, points in zip(x, mean, count, strict=True):
        if value != value:
            smoothed.append(math.nan)
            continue
        kept = math.exp(-(place - before) / memory) if memory > 0 and before == before else 0.0
        share = max(points, 1)
        total, weight = total * kept + value * share, weight * kept + share
        before = place
        smoothed.append(total / weight)
    return smoothed

"""A course of numbers in a few characters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

BARS = "▁▂▃▄▅▆▇█"
BAD = "×"
_DECADES = 3.0
"""A positive course over more decades than this is drawn by its logarithm."""


def sparkline(values: Sequence[float], width: int) -> str:
    """At most `width` bars between the least and the largest number; × where not finite."""
    if width < 1 or not values:
        return ""
    levels = _in_logarithms(_squeezed(values, width))
    finite = [level for level in levels if math.isfinite(level)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return "".join(_bar(level, low, high) for level in levels)


def _squeezed(values: Sequence[float], width: int) -> list[float]:
    """Means of neighbours, as many as there is room for; one bad value spoils its mean."""
    count = len(values)
    if count <= width:
        return list(values)
    edges = [place * count // width for place in range(width + 1)]
    # Divided first: the mean of huge values is finite, their sum need not be.
    return [
        sum(value / (stop - start) for value in values[start:stop])
        for start, stop in pairwise(edges)
    ]


def _in_logarithms(levels: list[float]) -> list[float]:
    finite = [level for level in levels if math.isfinite(level)]
    if not finite or min(finite) <= 0:
        return levels
    logarithms = [math.log10(v) if math.isfinite(v) else v for v in levels]
    span = math.log10(max(finite)) - math.log10(min(finite))
    return logarithms if span > _DECADES else levels


def _bar(level: float, low: float, high: float) -> str:
    if not math.isfinite(level):
        return BAD
    # Halves, because the difference of huge values may be infinite.
    room = high / 2 - low / 2
    share = (level / 2 - low / 2) / room if room > 0 else 0.5
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))]

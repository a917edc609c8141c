"""Norms as levels of a logarithmic scale, and layers by short names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEVELS = 16
SHADES = " ░▒▓█"
_LEAST_DECADES = 1.0
"""A narrower range is widened: noise must not look like a gradient."""
_SEPARATORS = "./_- :"
_WORTH_CUTTING = 4


@dataclass(frozen=True, slots=True)
class HeatScale:
    """From the smallest norm to the largest, by decades; shares from 0 to 1, evenly."""

    low: float = -1.0
    high: float = 0.0
    is_even: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        """Its two ends as text."""
        if self.is_even:
            return f"{self.low:.0%}", f"{self.high:.0%}"
        return norm_text(self.low), norm_text(self.high)

    def level(self, norm: float) -> int | None:
        """0 for the smallest norms (and for none at all); None where there is no number."""
        if math.isnan(norm):
            return None
        if self.is_even:
            return max(0, min(LEVELS - 1, int(norm * LEVELS)))
        if norm <= 0:
            return 0
        if math.isinf(norm):
            return LEVELS - 1
        share = (math.log10(norm) - self.low) / (self.high - self.low)
        return max(0, min(LEVELS - 1, int(share * LEVELS)))


SHARES = HeatScale(0.0, 1.0, is_even=True)


def scale_of(rows: Iterable[Iterable[float]]) -> HeatScale:
    """A scale that holds every positive norm."""
    low, high = math.inf, -math.inf
    for row in rows:
        norms = [norm for norm in row if 0 < norm < math.inf]
        if norms:
            low, high = min(low, min(norms)), max(high, max(norms))
    if low > high:
        return HeatScale()
    low, high = math.log10(low), math.log10(high)
    missing = max(0.0, _LEAST_DECADES - (high - low))
    return HeatScale(low - missing / 2, high + missing / 2)


def shade(level: int) -> str:
    """The glyph of a level: it says the same as the colour."""
    return SHADES[level * len(SHADES) // LEVELS]


def norm_text(logarithm: float) -> str:
    """An end of the scale."""
    text = f"{10.0 ** min(logarithm, 308.0):.2g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the beginning that all of them share."""
    if len(names) < 2:
        return list(names)
    first, last = min(names), max(names)
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    # Whole words only: `layers.1` and `layers.12` share no more than `layers.`.
    while shared and first[shared - 1] not in _SEPARATORS:
        shared -= 1
    return [f"…{name[shared:]}" for name in names] if shared >= _WORTH_CUTTING else list(names)

"""Numbers as short as a column needs them."""

from __future__ import annotations

import math

_MINUTE, _HOUR, _DAY, _WEEK, _YEAR = 60, 3600, 86_400, 604_800, 31_557_600
_AGES = (
    (_HOUR, _MINUTE, "m"),
    (_DAY, _HOUR, "h"),
    (100 * _DAY, _DAY, "d"),
    (_YEAR, _WEEK, "w"),
)
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short_count(value: float) -> str:
    """A count in some five characters: 950, 12.3k, 4M."""
    if not math.isfinite(value):
        return str(value)
    for size, unit in _UNITS:
        # Rounding may carry into the next unit: 999,960 is 1M, not 1000k.
        if abs(value) >= size * 0.9995:
            scaled = f"{value / size:.1f}" if abs(value) < 99.95 * size else f"{value / size:.0f}"
            return scaled.removesuffix(".0") + unit
    return f"{value:.2g}" if abs(value) < 1 else f"{value:.4g}"


def full_count(value: float) -> str:
    """A place on an axis as one would write it: 12,300, 0.25."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.6g}"


def short_value(value: float) -> str:
    """A measured value in at most eight characters."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:.0f}" if value == int(value) or abs(value) >= 1e4 else f"{value:.4g}"


def short_age(seconds: float) -> str:
    """How long ago in at most three characters, `now` within a minute."""
    if seconds < 60:
        return "now"
    for limit, size, unit in _AGES:
        if seconds < limit:
            return f"{int(seconds // size)}{unit}"
    return f"{min(99, int(seconds // _YEAR))}y"

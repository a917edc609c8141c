"""Numbers and sizes as tools write them: enough digits to be quoted and checked."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """A measured value with six significant digits."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e12:
        return f"{value:.0f}"
    return f"{value:.6g}"


def place(value: float) -> str:
    """A step, or a place on another axis."""
    if not math.isfinite(value):
        return "?"
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.9g}"


def size(count: int | None) -> str:
    """A number of bytes."""
    if count is None:
        return "size unknown"
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"


def plural(count: int, what: str) -> str:
    """`1 line`, `12 lines`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"

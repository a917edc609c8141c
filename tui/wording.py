"""Durations, counts and rates in words, as one would say them."""

from __future__ import annotations

import math

from .quantities import short_count

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_COMPACT = {"min": "m"}


def duration(seconds: float, *, units: int = 2, is_compact: bool = False) -> str:
    """How long: `3 s`, `2 h 13 min`, compact `2h13m`; never longer than it was."""
    if not math.isfinite(seconds):
        return "?"
    left = max(0, int(seconds))
    parts: list[str] = []
    for size, unit in _UNITS:
        amount, left = divmod(left, size)
        is_small_change = bool(parts) and amount == 0
        if is_small_change or (not amount and unit != "s"):
            if parts:
                break  # two units that follow each other: never days and seconds
            continue
        parts.append(f"{amount}{_COMPACT.get(unit, unit)}" if is_compact else f"{amount} {unit}")
        if len(parts) == units:
            break
    return ("" if is_compact else " ").join(parts)


def age(seconds: float) -> str:
    """How long ago, in one unit, so that it changes seldom: `3 s ago`, `4 min ago`."""
    return f"{duration(seconds, units=1)} ago"


def count(number: float, noun: str = "") -> str:
    """How many: `1,234`, or with a noun `1 line`, `1,234 lines`."""
    said = f"{number:,.0f}"
    if not noun:
        return said
    return f"{said} {noun}" if number == 1 else f"{said} {noun}s"


def percent(share: float) -> str:
    """A share of the whole; what is not done yet is never 100%."""
    if not math.isfinite(share):
        return "?"
    hundredths = math.floor(share * 100 + 1e-9)
    return f"{min(max(hundredths, 0), 100 if share >= 1 else 99)}%"


def rate(per_second: float, noun: str = "lines") -> str:
    """How fast: `12 lines/s`, `0.4 lines/s`, `10k lines/s`."""
    if per_second < 1:
        return f"{per_second:.1g} {noun}/s"
    shown = short_count(round(per_second))
    return f"{shown} {noun.rstrip('s') if shown == '1' else noun}/s"

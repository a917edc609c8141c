"""Numbers and moments as a report writes them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

UNKNOWN = "–"


def value(number: float | None) -> str:
    """A measured value in four digits."""
    if number is None:
        return UNKNOWN
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    if number == int(number) and abs(number) < 1e6:
        return f"{number:,.0f}"
    if 1e3 <= abs(number) < 1e7:
        return f"{number:,.0f}"
    shown = f"{number:.4g}"
    return shown.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def place(x: float | None) -> str:
    """A step, an epoch or another place on an axis."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    return f"{x:,.0f}" if x == int(x) and abs(x) < 1e15 else f"{x:,.6g}"


def percent(share: float | None) -> str:
    """A relative change, with its sign."""
    if share is None:
        return UNKNOWN
    if not math.isfinite(share):
        return "not finite"
    points = share * 100
    if abs(points) >= 1000:
        return f"{points:+,.0f}%"
    return f"{points:+.1f}%" if abs(points) < 100 else f"{points:+.0f}%"


def seconds(length: float | None) -> str:
    """How long something took."""
    if length is None or not math.isfinite(length):
        return UNKNOWN
    if length < 120:
        return f"{length:.3g} s"
    hours, rest = divmod(int(length + 0.5), 3600)
    return f"{hours} h {rest // 60:02d} min" if hours else f"{rest // 60} min {rest % 60:02d} s"


def moment(at: datetime | None, *, to_the_second: bool = False) -> str:
    """A moment to the minute or to the second, in UTC."""
    if at is None:
        return UNKNOWN
    form = "%Y-%m-%d %H:%M:%S" if to_the_second else "%Y-%m-%d %H:%M"
    # What a log says without a zone stays as the log says it.
    return f"{at:{form}}" if at.tzinfo is None else f"{at.astimezone(UTC):{form}}Z"


def counted(number: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

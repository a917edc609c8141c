"""What the curves say at one place of the axis."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ..engine.curve_protocol import Curve, CurvePass
from .numbers import compact, exact


@dataclass(frozen=True, slots=True)
class Reading:
    """One bucket of one curve."""

    x: float
    value: float
    low: float
    high: float
    count: int
    bad: int
    is_here: bool
    """Whether the bucket is at the place asked for, not the last one before it."""


def reading_at(curve: Curve, x: float, reach: float) -> Reading | None:
    """The newest pass at `x`, give or take `reach`; else the last point before it."""
    before: Reading | None = None
    for one in reversed(curve.passes):
        reading = _in_pass(one, x, reach)
        if reading is not None and reading.is_here:
            return reading
        before = before or reading
    return before


def _in_pass(one: CurvePass, x: float, reach: float) -> Reading | None:
    if not one.x:
        return None
    after = bisect_right(one.x, x)
    near = [i for i in (after - 1, after) if 0 <= i < len(one.x) and abs(one.x[i] - x) <= reach]
    if near:
        best = min(near, key=lambda i: abs(one.x[i] - x))
        return _reading(one, best, is_here=True)
    return _reading(one, after - 1, is_here=False) if after else None


def _reading(one: CurvePass, index: int, *, is_here: bool) -> Reading:
    return Reading(
        one.x[index],
        one.mean[index],
        one.low[index],
        one.high[index],
        one.count[index],
        one.bad[index],
        is_here,
    )


def reading_text(reading: Reading | None, *, is_full: bool) -> str:
    """`2.314`, or `1.9..2.8 (mean 2.3 of 27)` for a bucket of several points."""
    if reading is None:
        return "-"
    if reading.value != reading.value:
        return "NaN/Inf"
    if reading.low < reading.high:
        # Nobody logged the mean: where several points share a column, their range is told.
        text = f"{compact(reading.low)}..{compact(reading.high)}"
        text += f" (mean {compact(reading.value)} of {reading.count})" if is_full else ""
    else:
        text = exact(reading.value)
    if is_full and reading.bad:
        text += f" {reading.bad} NaN/Inf"
    return text


def places(curves: Sequence[Curve], low: float, high: float) -> list[float]:
    """Every x between `low` and `high` at which one of the curves has a bucket."""
    found: set[float] = set()
    for curve in curves:
        for one in curve.passes:
            found.update(x for x in one.x if low <= x <= high)
    return sorted(found)

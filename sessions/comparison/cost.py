"""What a change costs: time over the stretch that both runs went, and throughput."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mltd.runs.series import Series

from ..model.result import Cost
from .directions import kind_of
from .measuring import Measured

_PAUSE = 20.0
"""Usual intervals; a longer silence is a queue or a night, which no change is to blame for."""


def cost_of(measured: Sequence[Measured]) -> Cost:
    """Time and throughput, as far as the runs log them."""
    times = next((pair for one in measured if (pair := _seconds(one)) is not None), (None, None))
    rates = next(
        (
            (one.change.before, one.change.after)
            for one in measured
            if kind_of(one.change.role) == "throughput" and _are_numbers(one)
        ),
        (None, None),
    )
    return Cost(seconds=times, throughput=rates)


def _are_numbers(one: Measured) -> bool:
    levels = (one.change.before, one.change.after)
    return all(value is not None and math.isfinite(value) for value in levels)


def _seconds(one: Measured) -> tuple[float, float] | None:
    pair, aligned = one.pair, one.aligned
    before, after = aligned.before, aligned.after
    if pair.before is None or pair.after is None or before is None or after is None:
        return None
    if aligned.axis in ("final", "index") or not before.high or not after.high:
        return None
    start = max(float(before.x[before.start]), float(after.x[after.start]))
    end = min(float(before.x[before.high - 1]), float(after.x[after.high - 1]))
    found = [_taken(series, aligned.axis, start, end) for series in (pair.before, pair.after)]
    first, second = found
    return None if first is None or second is None else (first, second)


def _taken(series: Series, axis: str, start: float, end: float) -> float | None:
    """Wall time between two places; what a resumed run went twice, it took twice."""
    x, moments = series.axis(axis), series.axis("time")
    with np.errstate(invalid="ignore"):
        moments = moments[np.isfinite(moments) & (x >= start) & (x <= end)]
        steps = np.diff(moments)
    steps = steps[steps > 0]
    if not len(steps):
        return None
    usual = float(np.median(steps))
    return float(np.where(steps > _PAUSE * usual, usual, steps).sum())

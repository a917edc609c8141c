"""A stretch of a series in numbers: exact statistics, and rows that keep every extreme."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mltd.runs.harvest import Floats, Ints
from mltd.runs.pyramid import of_values

from .wording import number, place


@dataclass(frozen=True, slots=True)
class Points:
    """Some points of a series, in the order in which they were logged."""

    axis: str
    x: Floats
    y: Floats
    lines: Ints
    unit: str = "line"
    """What the file counts in: lines, or records where it has no lines."""

    def __len__(self) -> int:
        """Count the points."""
        return len(self.y)

    def take(self, index: Ints | slice) -> Points:
        """Some of them."""
        return replace(self, x=self.x[index], y=self.y[index], lines=self.lines[index])

    def between(self, first: float | None, last: float | None) -> Points:
        """Those between two places of the axis, both included."""
        is_kept = np.ones(len(self), dtype=bool)
        if first is not None:
            is_kept &= self.x >= first
        if last is not None:
            is_kept &= self.x <= last
        return self.take(np.flatnonzero(is_kept))

    def around(self, middle: float, most: int) -> Points:
        """Neighbours, in the log, of the newest point that is nearest to a place."""
        distance = np.where(np.isfinite(self.x), np.abs(self.x - middle), np.inf)
        nearest = int(np.flatnonzero(distance == distance.min())[-1])
        first = max(0, min(nearest - most // 2, len(self) - most))
        return self.take(slice(first, first + most))


def statistics(points: Points) -> list[str]:
    """Count, extremes, mean, last value, and what is not finite; exact."""
    finite = np.isfinite(points.y)
    told = [f"{len(points):,} points, {points.axis} {place(points.x[0])}..{place(points.x[-1])}"]
    if finite.any():
        low = int(np.argmin(np.where(finite, points.y, np.inf)))
        high = int(np.argmax(np.where(finite, points.y, -np.inf)))
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = points.y[finite].mean(), points.y[finite].std()
        told += [
            f"min {_at(points, low)}, max {_at(points, high)}",
            f"mean {number(float(mean))}, standard deviation {number(float(spread))}",
        ]
    told.append(f"first {_at(points, 0)}, last {_at(points, len(points) - 1)}")
    for what, is_bad in (("NaN", np.isnan(points.y)), ("infinite", np.isinf(points.y))):
        if is_bad.any():
            first = int(np.argmax(is_bad))
            told.append(f"{int(is_bad.sum()):,} {what}, the first {_at(points, first)}")
    if finite.all():
        told.append("no NaN, nothing infinite")
    back = int((np.diff(points.x) < 0).sum())
    if back:
        told.append(f"the {points.axis} goes back {back:,} times: resumed, or several writers")
    return told


def table(points: Points, most: int) -> tuple[str, list[str]]:
    """The head of a table and its rows: single points, or groups with their extremes."""
    if len(points) <= most:
        rows = [
            f"{place(x)} | {number(y)} | {line}"
            for x, y, line in zip(points.x, points.y, points.lines.tolist(), strict=True)
        ]
        return f"{points.axis} | value | {points.unit} of the file", rows
    bounds = np.linspace(0, len(points), most + 1).astype(np.int64)
    first, last = bounds[:-1], bounds[1:] - 1
    groups = of_values(points.y).reduce(first)
    rows = []
    for at in range(most):
        count, good = int(last[at] - first[at] + 1), int(groups.finite[at])
        low, high = (float(v[at]) if good else float("nan") for v in (groups.low, groups.high))
        mean = float(groups.total[at]) / good if good else float("nan")
        bad = f" | {count - good:,} not finite" if count > good else ""
        span = f"{place(points.x[first[at]])}..{place(points.x[last[at]])}"
        rows.append(f"{span} | {number(low)} | {number(mean)} | {number(high)} | {count:,}{bad}")
    return f"{points.axis} | min | mean | max | points", rows


def _at(points: Points, index: int) -> str:
    where = f"{points.axis} {place(float(points.x[index]))}"
    return f"{number(float(points.y[index]))} at {where} ({points.unit} {int(points.lines[index])})"

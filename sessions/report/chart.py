"""Charts as plain values: what is drawn, whoever draws it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from . import numbers

Point = tuple[float, float, float]
"""Place on the axis, and the smallest and the largest value there."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One curve: stretches without gaps, and the places where it was not a finite number."""

    label: str
    stretches: tuple[tuple[Point, ...], ...]
    bad: tuple[float, ...] = ()
    """Places of NaN and infinities."""
    bad_count: int = 0
    first: float = math.nan
    last: float = math.nan
    """The values with which it begins and ends; NaN and infinities included."""
    lowest: tuple[float, float] | None = None
    highest: tuple[float, float] | None = None
    """Place and value of the extremes."""
    extent: tuple[float, float] | None = None
    """The part of the axis that it covers; its points may stand for stretches of it."""

    @property
    def points(self) -> Iterator[Point]:
        """All points, left to right within a stretch."""
        return chain.from_iterable(self.stretches)


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a place of the axis."""

    x: float
    label: str
    severity: str = "info"


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over one axis, with marks."""

    name: str
    """Short, for the file: `train-loss`."""
    title: str
    axis: str
    traces: tuple[Trace, ...]
    marks: tuple[Mark, ...] = ()
    role: str = ""

    @property
    def x_range(self) -> tuple[float, float]:
        """The part of the axis that is covered."""
        places = [
            x
            for trace in self.traces
            for x in trace.extent or chain((p[0] for p in trace.points), trace.bad)
        ]
        return (min(places), max(places)) if places else (0.0, 1.0)

    @property
    def y_range(self) -> tuple[float, float] | None:
        """The smallest and the largest finite value; None if there is none."""
        lows = [low for t in self.traces for _, low, _ in t.points]
        highs = [high for t in self.traces for _, _, high in t.points]
        return (min(lows), max(highs)) if lows else None

    @property
    def lettered(self) -> tuple[tuple[str, Mark], ...]:
        """The marks with a letter each, left to right."""
        ordered = sorted(self.marks, key=lambda mark: mark.x)
        return tuple(zip("ABCDEFGH", ordered, strict=False))

    @property
    def description(self) -> str:
        """What one would say about the picture to somebody who cannot see it."""
        low, high = self.x_range
        said = [f"{self.title} over {self.axis} {numbers.place(low)} to {numbers.place(high)}"]
        for trace in self.traces:
            ends = f"from {numbers.value(trace.first)} to {numbers.value(trace.last)}"
            said.append(f"{trace.label} {ends}" if len(self.traces) > 1 else ends)
            if trace.highest is not None and trace.lowest is not None:
                at, highest = trace.highest
                said.append(f"lowest {numbers.value(trace.lowest[1])}")
                said.append(f"highest {numbers.value(highest)} at {numbers.place(at)}")
            if trace.bad_count:
                said.append(f"{trace.bad_count:,} values not finite")
        return f"{said[0]}: {', '.join(said[1:])}"

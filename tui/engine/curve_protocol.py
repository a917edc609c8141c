"""What the screen asks about curves and comparisons, and what it is told; see `protocol`."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

_NO_NUMBERS: array[float] = array("d")


@dataclass(frozen=True, slots=True)
class CurvePass:
    """Buckets of one pass over the axis, left to right; a restarted run makes several."""

    x: array[float] = field(default_factory=lambda: array("d"))
    low: array[float] = field(default_factory=lambda: array("d"))
    high: array[float] = field(default_factory=lambda: array("d"))
    mean: array[float] = field(default_factory=lambda: array("d"))
    """Extremes and mean of the finite values; NaN if the bucket has none."""
    count: array[int] = field(default_factory=lambda: array("q"))
    bad: array[int] = field(default_factory=lambda: array("q"))
    """How many values are NaN or infinite."""


class Curve(NamedTuple):
    """One metric over the wished range, in at most as many buckets as were asked for."""

    run: int
    key: str
    name: str
    role: str | None
    passes: tuple[CurvePass, ...]
    points: int
    """Points in the range, before they were put into buckets."""


class MarkKind(StrEnum):
    """What a mark on a curve stands for."""

    FINDING = "finding"
    RESTART = "restart"
    CHECKPOINT = "checkpoint"
    RATE = "rate"
    ERROR = "error"


class Mark(NamedTuple):
    """Something that happened at a place of the axis."""

    x: float
    kind: MarkKind
    label: str
    severity: str = "info"
    path: str = ""
    line: int = 0
    """Where the log says so; 0 if it does not."""


class CurveRequest(NamedTuple):
    """Metrics of one or several runs over a stretch of an axis."""

    ticket: int
    series: tuple[tuple[int, str], ...]
    """Run and key of each metric."""
    axis: str = "step"
    """step, epoch, time, tokens, samples or index."""
    low: float | None = None
    high: float | None = None
    buckets: int = 200


class Curves(NamedTuple):
    """The answer to a `CurveRequest`; sent again whenever the curves grew."""

    ticket: int
    axis: str
    extent: tuple[float, float] | None
    """The whole axis that the metrics cover; None if they have no point."""
    curves: tuple[Curve, ...] = ()
    marks: tuple[Mark, ...] = ()


class HeatRequest(NamedTuple):
    """Norms per layer over a stretch of steps."""

    ticket: int
    run: int
    columns: int
    low: float | None = None
    high: float | None = None
    quantity: str = "grad_norm"
    """What is measured; if the run has no such thing, what it has."""


class Heat(NamedTuple):
    """Layers x steps; `cells[layer][column]` is the mean norm there, NaN if there is none."""

    ticket: int
    layers: tuple[str, ...] = ()
    columns: array[float] = _NO_NUMBERS
    """Step at the middle of each column."""
    cells: tuple[array[float], ...] = ()
    bad: tuple[tuple[int, int], ...] = ()
    """Layer and column of cells that hold a NaN or an infinity."""
    axis: str = "step"
    quantity: str = "grad_norm"
    quantities: tuple[str, ...] = ("grad_norm",)
    """All that the run has of each layer, in the order in which one goes through them."""


class PlaceRequest(NamedTuple):
    """Which step does a line of a log belong to (`x` empty), or which line a step (`line` 0)?"""

    ticket: int
    run: int
    path: str = ""
    line: int = 0
    x: float | None = None
    axis: str = "step"
    key: str = ""
    """The metric whose line is wanted; any if empty."""


class Place(NamedTuple):
    """The answer to a `PlaceRequest`; what is not known is 0 or None."""

    ticket: int
    run: int
    path: str = ""
    line: int = 0
    x: float | None = None


class CompareRequest(NamedTuple):
    """Two runs side by side."""

    ticket: int
    before: int
    after: int
    experiment: str = ""
    """JSON of the experiment whose criteria decide; empty for the default ones."""
    onset: float | None = None
    """Step by which the incident had shown itself in the run before."""
    is_at_end: bool = False
    """Compare what each run ended with, not what both had reached."""


class CompareRow(NamedTuple):
    """One metric in both runs, over the last stretch that both have reached."""

    name: str
    role: str | None
    axis: str
    at: float | None
    """Place on the axis up to which the values are compared; None if only by their ends."""
    before: float | None
    after: float | None
    before_best: float | None = None
    after_best: float | None = None
    smaller_is_better: bool | None = None
    """None if neither direction is better."""
    start: float | None = None
    """Place from which on values are taken."""
    change: float | None = None
    """Relative: (after - before) / |before|; None if that means nothing."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the relative change; None if there are too few points."""
    effect: float | None = None
    """Difference in units of the noise."""
    parts_at: float | None = None
    """Where the runs begin to differ for good; None if they do not."""
    points: tuple[int, int] = (0, 0)
    """Points of each run over that stretch."""
    needed: int = 0
    """How many more it takes for an interval."""


class Comparison(NamedTuple):
    """The answer to a `CompareRequest`."""

    ticket: int
    before: int
    after: int
    rows: tuple[CompareRow, ...] = ()
    verdict: str = ""
    """JSON of the `BeforeAfter`."""

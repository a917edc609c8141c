"""From buckets to a picture: extremes, gaps, passes and smoothing of the curves of one chart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..charts import Cell, Picture, picture
from ..engine.curve_protocol import Curve, CurvePass
from .raster import Stroke, braille, stars, trace
from .scale import Scale, scale_for
from .smoothing import smooth

FAINT = 7
"""Layer of raw values under a smoothed curve, and of passes before the last."""
_SPARSE = 6
"""Columns per point from which on the points themselves are marked."""


@dataclass(frozen=True, slots=True)
class Look:
    """How curves are drawn."""

    low: float
    high: float
    is_log: bool = False
    smoothing: float = 0.0
    """Share of the visible range."""
    is_from_zero: bool = False
    is_ascii: bool = False


@dataclass(frozen=True, slots=True)
class Canvas:
    """A chart without its frame, and what could not be drawn."""

    picture: Picture
    scale: Scale | None
    """None if there is no value to draw."""
    bad: int = 0
    """NaN and infinite values in sight."""
    nonpositive: int = 0
    """Values that a logarithmic axis cannot show, at least."""
    gaps: dict[int, str] = field(default_factory=dict)
    """Columns with such values: `bad` or `nonpositive`."""
    has_decades: bool = False
    """All values are positive and span two decades or more."""


def column_of(x: float, low: float, high: float, columns: int) -> int:
    """The column of a place; below 0 or from `columns` on if it is out of sight."""
    if not high > low:
        return -1
    share = (x - low) / (high - low)
    if x == high:
        return columns - 1
    return math.floor(min(max(share, -9.0), 9.0) * columns)


def draw(curves: Sequence[tuple[Curve, int]], look: Look, width: int, height: int) -> Canvas:
    """Draw curves, each with its colour, on `width` by `height` cells."""
    limits = _limits(curves, look)
    gaps, bad, nonpositive = _gaps(curves, look, width)
    has_decades = limits is not None and _spans_decades(curves, look)
    if limits is None:
        return Canvas(picture({}, width, height), None, bad, nonpositive, gaps)
    scale = scale_for(*limits, is_log=look.is_log, from_zero=look.is_from_zero)
    cells = _cells(curves, look, scale, width, height)
    return Canvas(
        picture(cells, width, height), scale, bad, nonpositive, gaps, has_decades=has_decades
    )


def _visible(one: CurvePass, look: Look) -> Iterator[int]:
    return (i for i, x in enumerate(one.x) if look.low <= x <= look.high)


def _limits(curves: Sequence[tuple[Curve, int]], look: Look) -> tuple[float, float] | None:
    lows: list[float] = []
    highs: list[float] = []
    for curve, _ in curves:
        for one in curve.passes:
            for i in _visible(one, look):
                span = _span(one, i, is_log=look.is_log)
                if span is not None:
                    lows.append(span[0])
                    highs.append(span[1])
    return (min(lows), max(highs)) if lows else None


def _span(one: CurvePass, i: int, *, is_log: bool) -> tuple[float, float, float] | None:
    """Low, high and mean of a bucket as far as the axis can show them; None is a gap."""
    low, high, mean = one.low[i], one.high[i], one.mean[i]
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(mean)):
        return None
    if is_log and low <= 0:
        if high <= 0:
            return None
        low = mean = mean if mean > 0 else high
    return low, high, mean


def _spans_decades(curves: Sequence[tuple[Curve, int]], look: Look) -> bool:
    limits = _limits(curves, Look(look.low, look.high))
    return limits is not None and limits[0] > 0 and limits[1] / limits[0] >= 100


def _gaps(
    curves: Sequence[tuple[Curve, int]], look: Look, width: int
) -> tuple[dict[int, str], int, int]:
    gaps: dict[int, str] = {}
    bad = nonpositive = 0
    for curve, _ in curves:
        for one in curve.passes:
            for i in _visible(one, look):
                hidden = 0
                if look.is_log and one.low[i] <= 0:
                    hidden = max(1, one.count[i]) if one.high[i] <= 0 else 1
                if not (hidden or one.bad[i]):
                    continue
                column = column_of(one.x[i], look.low, look.high, width)
                if one.bad[i]:
                    gaps[column] = "bad"
                else:
                    gaps.setdefault(column, "nonpositive")
                bad, nonpositive = bad + one.bad[i], nonpositive + hidden
    return gaps, bad, nonpositive


def _cells(
    curves: Sequence[tuple[Curve, int]], look: Look, scale: Scale, width: int, height: int
) -> dict[Cell, tuple[str, int]]:
    across, up = (1, 1) if look.is_ascii else (2, 4)
    columns, rows = width * across, height * up
    faint: list[tuple[list[int], int]] = []
    strong: list[tuple[list[int], int]] = []
    points: dict[Cell, tuple[str, int]] = {}
    for curve, colour in curves:
        for place, one in enumerate(curve.passes):
            is_last = place == len(curve.passes) - 1
            strokes = list(_strokes(one, look, scale, columns, rows))
            bits = trace(strokes, columns, rows)
            if is_last and not look.smoothing:
                strong.append((bits, colour))
                points |= _points(strokes, colour, width, across, up, is_ascii=look.is_ascii)
            else:
                faint.append((bits, FAINT))
            if is_last and look.smoothing:
                strokes = list(_smoothed(one, look, scale, columns, rows))
                strong.append((trace(strokes, columns, rows), colour))
    # Thin curves lie on top of those that fill the plot.
    strong.sort(key=lambda layer: -sum(b.bit_count() for b in layer[0]))
    cells = _merged(faint, height, is_ascii=look.is_ascii)
    cells |= _merged(strong, height, is_ascii=look.is_ascii)
    cells |= {c: v for c, v in points.items() if 0 <= c[0] < width and 0 <= c[1] < height}
    return cells


def _merged(
    layers: list[tuple[list[int], int]], height: int, *, is_ascii: bool
) -> dict[Cell, tuple[str, int]]:
    """Later layers hide what is below them: mixed dots in one colour would look like noise."""
    cells: dict[Cell, tuple[str, int]] = {}
    for bits, colour in layers:
        if is_ascii:
            cells |= dict.fromkeys(stars(bits, height), ("*", colour))
        else:
            found = braille(bits, height).items()
            cells |= {cell: (chr(0x2800 + code), colour) for cell, code in found}
    return cells


def _strokes(
    one: CurvePass, look: Look, scale: Scale, columns: int, rows: int
) -> Iterator[Stroke | None]:
    for i, x in enumerate(one.x):
        span = _span(one, i, is_log=look.is_log)
        if span is None:
            yield None
            continue
        low, high, mean = (_row(scale, v, rows) for v in span)
        yield Stroke(
            column_of(x, look.low, look.high, columns),
            math.floor(low + 0.5),
            math.floor(high + 0.5),
            mean,
        )


def _smoothed(
    one: CurvePass, look: Look, scale: Scale, columns: int, rows: int
) -> Iterator[Stroke | None]:
    spans = [_span(one, i, is_log=look.is_log) for i in range(len(one.x))]
    means = [math.nan if span is None else span[2] for span in spans]
    memory = look.smoothing * (look.high - look.low)
    for x, value in zip(one.x, smooth(one.x, means, one.count, memory), strict=True):
        if value != value:
            yield None
            continue
        row = _row(scale, value, rows)
        dot = math.floor(row + 0.5)
        yield Stroke(column_of(x, look.low, look.high, columns), dot, dot, row)


def _row(scale: Scale, value: float, rows: int) -> float:
    return min(max(scale.fraction(value), -2.0), 3.0) * (rows - 1)


def _points(
    strokes: Sequence[Stroke | None],
    colour: int,
    width: int,
    across: int,
    up: int,
    *,
    is_ascii: bool,
) -> dict[Cell, tuple[str, int]]:
    """Marks on the points of a curve that has few of them."""
    shown = [s for s in strokes if s is not None and 0 <= s.column < width * across]
    if not shown or len(shown) * _SPARSE > width:
        return {}
    glyph = "o" if is_ascii else "•"
    return {(s.column // across, math.floor(s.mean + 0.5) // up): (glyph, colour) for s in shown}

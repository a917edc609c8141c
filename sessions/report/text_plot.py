"""A chart in characters that every monospaced font has, for a fence or a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from . import numbers
from .chart import Chart, Trace
from .scale import Scale, place_scale, tick_label, value_scale

WIDTH = 72
HEIGHT = 12
_GLYPHS = "o+x"
_BAD = "!"
"""Below a column in which some value is not finite."""
_Column = tuple[int, int, int, int]
"""Column, and the rows of the largest, the last and the smallest value, from the top."""


def text_plot(chart: Chart, width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """The lines of a plot: values, the axis, not finite values, and what the letters mean."""
    spread = chart.y_range
    x_scale = place_scale(*chart.x_range)
    scale = value_scale(*spread, chart.role) if spread else Scale(0.0, 1.0)
    labels = _labels(scale, height) if spread else {}
    margin = max([3, *(len(label) for label in labels.values())])
    canvas = [[" "] * width for _ in range(height)]
    for number, trace in enumerate(chart.traces):
        glyph = _GLYPHS[number % len(_GLYPHS)] if len(chart.traces) > 1 else ""
        for stretch in _stretches(trace, x_scale, scale, width, height):
            _draw(canvas, stretch, glyph)
    lines = [
        f"{labels.get(n, ''):>{margin}} {'┤' if n in labels else '│'}{''.join(row)}".rstrip()
        for n, row in enumerate(canvas)
    ]
    lines.append(f"{'':>{margin}} └{'─' * width}")
    if any(trace.bad for trace in chart.traces):
        lines.append(f"{'':>{margin}}  {_bad_row(chart, x_scale, width)}".rstrip())
    if chart.lettered:
        lines.append(f"{'':>{margin}}  {_mark_row(chart, x_scale, width)}".rstrip())
    lines.append(f"{'':>{margin}}  {_axis_row(chart, width)}")
    return [*lines, *_legend(chart, scale)]


def _labels(scale: Scale, height: int) -> dict[int, str]:
    """Labels of rows, from the top; each tick at the row that is nearest to it."""
    found: dict[int, str] = {}
    for tick in scale.ticks(max(2, height // 3)):
        found.setdefault(_row(scale, tick, height), tick_label(tick))
    return found


def _row(scale: Scale, value: float, height: int) -> int:
    return round((1 - scale.share(value)) * (height - 1))


def _stretches(
    trace: Trace, x_scale: Scale, scale: Scale, width: int, height: int
) -> Iterator[list[_Column]]:
    """Each stretch of a curve as one entry per column, without empty columns."""
    for stretch in trace.stretches:
        columns: dict[int, tuple[int, int]] = {}
        for x, low, high in stretch:
            column = min(width - 1, int(x_scale.share(x) * width))
            top, bottom = _row(scale, high, height), _row(scale, low, height)
            known = columns.get(column, (top, bottom))
            columns[column] = min(top, known[0]), max(bottom, known[1])
        entries = list(_with_way_out(columns))
        filled = entries[:1]
        for before, now in pairwise(entries):
            gap = now[0] - before[0]
            for n in range(1, gap):
                row = round(before[2] + (now[2] - before[2]) * n / gap)
                filled.append((before[0] + n, row, row, row))
            filled.append(now)
        yield filled


def _with_way_out(columns: dict[int, tuple[int, int]]) -> Iterator[_Column]:
    """Each column with the row in which the line leaves it: as near as can be to the next one."""
    spans = list(columns.items())
    middles = [(top + bottom) // 2 for _, (top, bottom) in spans]
    for n, (x, (top, bottom)) in enumerate(spans):
        following = middles[min(n + 1, len(spans) - 1)]
        yield x, top, min(bottom, max(top, following)), bottom


def _draw(canvas: list[list[str]], stretch: list[_Column], glyph: str) -> None:
    """A line from column to column; where values scatter, a bar over all of them."""
    _, top, row, bottom = stretch[0]
    before = top + bottom - row
    for x, top, row, bottom in stretch:
        first, last = min(top, before, row), max(bottom, before, row)
        for y in range(first, last + 1):
            if glyph:
                canvas[y][x] = glyph if canvas[y][x] in (" ", glyph) else "#"
            else:
                canvas[y][x] = _stroke(y, before, row, is_above=y > first, is_below=y < last)
        before = row


def _stroke(y: int, before: int, row: int, *, is_above: bool, is_below: bool) -> str:
    """The piece of a line in one cell: where it comes in, goes out, and what is above and below."""
    sides = (y == before, y == row, is_above, is_below)
    return {
        (True, True, False, False): "─",
        (True, True, True, False): "┴",
        (True, True, False, True): "┬",
        (True, True, True, True): "┼",
        (True, False, True, False): "╯",
        (True, False, False, True): "╮",
        (True, False, True, True): "┤",
        (False, True, True, False): "╰",
        (False, True, False, True): "╭",
        (False, True, True, True): "├",
    }.get(sides, "│")


def _bad_row(chart: Chart, x_scale: Scale, width: int) -> str:
    row = [" "] * width
    for trace in chart.traces:
        for x in trace.bad:
            row[min(width - 1, int(x_scale.share(x) * width))] = _BAD
    return "".join(row)


def _mark_row(chart: Chart, x_scale: Scale, width: int) -> str:
    row = [" "] * width
    for letter, mark in chart.lettered:
        at = min(width - 1, int(x_scale.share(mark.x) * width))
        free = next((n for n in range(at, width) if row[n] == " "), at)
        row[free] = letter
    return "".join(row)


def _axis_row(chart: Chart, width: int) -> str:
    low, high = chart.x_range
    left, right = numbers.place(low), numbers.place(high)
    room = width - len(left) - len(right)
    return f"{left}{chart.axis:^{max(len(chart.axis) + 2, room)}}{right}"


def _legend(chart: Chart, scale: Scale) -> list[str]:
    said: list[str] = []
    if len(chart.traces) > 1:
        names = (f"{_GLYPHS[n % 3]} {trace.label}" for n, trace in enumerate(chart.traces))
        said.append("   ".join([*names, "# both"]))
    if scale.is_log:
        said.append("logarithmic scale")
    bad = sum(trace.bad_count for trace in chart.traces)
    if bad:
        said.append(f"{_BAD} {numbers.counted(bad, 'value')} not finite (NaN or infinite)")
    for letter, mark in chart.lettered:
        said.append(f"{letter} {mark.label} at {chart.axis} {numbers.place(mark.x)}")
    return said

"""One chart as rows: title, plot with its axes, rail of marks, labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..engine.curve_protocol import Mark, MarkKind
from .chart_list import Chart
from .drawing import FAINT, Canvas, Look, column_of
from .legend import notes_of, title_row
from .rows import Row, fitted, row_of
from .scale import LABEL
from .ticks import Tick, place_ticks

GUTTER = LABEL + 1
"""Columns left of a plot."""
_AROUND = 3
"""Rows of title, rail and labels."""
_MEANINGS = ("", *(f"chart-{n}" for n in range(1, FAINT)), "chart-faint")
_ORDER = {"critical": 3, "warning": 2}
_KINDS = {
    MarkKind.CHECKPOINT: ("◦", 0),
    MarkKind.RATE: ("~", 1),
    MarkKind.RESTART: ("↻", 2),
    MarkKind.FINDING: ("●", 3),
    MarkKind.ERROR: ("✖", 4),
}


@dataclass(frozen=True, slots=True)
class Pointer:
    """The cursor in a chart: its place, and each curve's colour and value there."""

    x: float
    values: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything that one chart shows."""

    chart: Chart
    axis: str
    look: Look
    canvas: Canvas | None
    values: tuple[str, ...]
    marks: tuple[Mark, ...] = ()
    pointer: Pointer | None = None
    is_selected: bool = False
    message: str = ""
    """Said in place of curves."""


def plot_size(width: int, height: int) -> tuple[int, int]:
    """Columns and rows that are left for curves."""
    return max(1, width - GUTTER), max(1, height - _AROUND)


def glyph_of(mark: Mark) -> tuple[str, str]:
    """How a mark looks, and its meaning."""
    glyph = _KINDS[mark.kind][0]
    if mark.kind is MarkKind.FINDING:
        glyph = {"critical": "✖", "warning": "▲"}.get(mark.severity, glyph)
    if mark.kind is MarkKind.CHECKPOINT:
        # There are many, and all is well.
        return glyph, "quiet"
    known = mark.severity in ("critical", "warning", "info", "fine")
    return glyph, f"severity-{mark.severity if known else 'unknown'}"


def rows_of(sheet: Sheet, width: int, height: int) -> list[Row]:
    """The chart in exactly `height` rows of `width` columns."""
    columns, lines = plot_size(width, height)
    marks = _by_column(sheet, columns)
    ticks = _x_ticks(sheet, columns)
    rows = [_title(sheet, width)]
    rows += _plot(sheet, columns, lines, marks)
    rows.append(_rail(sheet, columns, marks, ticks))
    rows.append(_labels(ticks, columns))
    return [fitted(row, width) for row in rows[:height]]


def _title(sheet: Sheet, width: int) -> Row:
    is_wide = sheet.canvas is not None and sheet.canvas.has_decades and not sheet.look.is_log
    hint = "y: log?" if is_wide and not sheet.chart.is_from_zero else ""
    notes = notes_of(sheet.canvas, is_log=sheet.look.is_log)
    return title_row(sheet.chart, sheet.values, notes, hint, width, sheet.is_selected)


def _plot(sheet: Sheet, columns: int, lines: int, marks: dict[int, Mark]) -> list[Row]:
    canvas = sheet.canvas
    scale = canvas.scale if canvas else None
    labels: dict[int, str] = {}
    for tick in scale.ticks(min(6, max(2, lines // 2 - 1))) if scale else []:
        labels.setdefault(_line_of(tick.at, lines), tick.label)
    cursor = _cursor_column(sheet, columns)
    faint = [c for c, mark in marks.items() if mark.kind is MarkKind.FINDING]
    dots = _dots(sheet, lines)
    rows: list[Row] = []
    for line in range(lines):
        text = list(canvas.picture.rows[line]) if canvas else [" "] * columns
        layers = canvas.picture.layers[line] if canvas else (0,) * columns
        meanings = [_MEANINGS[layer] for layer in layers]
        for column in faint:
            if text[column] == " ":
                text[column], meanings[column] = "┊", "chart-faint"
        if cursor is not None:
            if text[cursor] in " ┊":
                text[cursor], meanings[cursor] = "│", "chart-cursor"
            if line in dots:
                text[cursor], meanings[cursor] = "●", f"!chart-{dots[line]}"
        if canvas and line == lines - 1:
            for column, kind in canvas.gaps.items():
                severity = "critical" if kind == "bad" else "warning"
                text[column], meanings[column] = "×", f"severity-{severity}"
        if sheet.message and line == (lines - 1) // 2:
            _write(sheet.message, text, meanings)
        label = labels.get(line, "")
        edge = "┤" if line in labels else "│"
        head = (f"{label:>{LABEL}}", "chart-axis"), (edge, "chart-faint")
        rows.append((*head, *row_of(text, meanings)))
    return rows


def _write(message: str, text: list[str], meanings: list[str]) -> None:
    start = max(0, (len(text) - len(message)) // 2)
    for place, character in enumerate(message[: len(text)], start):
        text[place], meanings[place] = character, "quiet"


def _cursor_column(sheet: Sheet, columns: int) -> int | None:
    if sheet.pointer is None:
        return None
    column = column_of(sheet.pointer.x, sheet.look.low, sheet.look.high, columns)
    return column if 0 <= column < columns else None


def _dots(sheet: Sheet, lines: int) -> dict[int, int]:
    """Rows in which the cursor meets a curve, and the curve's colour."""
    scale = sheet.canvas.scale if sheet.canvas else None
    if sheet.pointer is None or scale is None:
        return {}
    dots: dict[int, int] = {}
    for colour, value in sheet.pointer.values:
        if value != value or (scale.is_log and value <= 0):
            continue
        fraction = scale.fraction(value)
        if -0.01 <= fraction <= 1.01:
            dots[_line_of(fraction, lines)] = colour
    return dots


def _line_of(fraction: float, lines: int) -> int:
    """The row, from the top, that has the braille dot of a value."""
    dot = round(min(max(fraction, 0.0), 1.0) * (lines * 4 - 1))
    return lines - 1 - dot // 4


def _by_column(sheet: Sheet, columns: int) -> dict[int, Mark]:
    """The most important mark of every column."""
    found: dict[int, Mark] = {}
    for mark in sorted(sheet.marks, key=_importance):
        column = column_of(mark.x, sheet.look.low, sheet.look.high, columns)
        if 0 <= column < columns:
            found[column] = mark
    return found


def _importance(mark: Mark) -> tuple[int, int]:
    return _ORDER.get(mark.severity, 0), _KINDS[mark.kind][1]


def _x_ticks(sheet: Sheet, columns: int) -> list[tuple[int, Tick]]:
    """As many ticks as have room for their labels."""
    low, high = sheet.look.low, sheet.look.high
    placed: list[tuple[int, Tick]] = []
    for most in range(min(10, columns // 6), 0, -1):
        ticks = place_ticks(sheet.axis, low, high, most)
        placed = [(column_of(t.at, low, high, columns), t) for t in ticks]
        placed = [(column, tick) for column, tick in placed if 0 <= column < columns]
        if all(
            b - a > (len(s.label) + len(t.label)) / 2 + 1 for (a, s), (b, t) in pairwise(placed)
        ):
            break
    return placed


def _rail(
    sheet: Sheet, columns: int, marks: dict[int, Mark], ticks: Sequence[tuple[int, Tick]]
) -> Row:
    text, meanings = ["─"] * columns, ["chart-faint"] * columns
    for column, _ in ticks:
        text[column] = "┬"
    cursor = _cursor_column(sheet, columns)
    if cursor is not None:
        text[cursor], meanings[cursor] = "┴", "chart-cursor"
    for column, mark in marks.items():
        text[column], meanings[column] = glyph_of(mark)
    return (" " * LABEL, ""), ("└", "chart-faint"), *row_of(text, meanings)


def _labels(ticks: Sequence[tuple[int, Tick]], columns: int) -> Row:
    width = GUTTER + columns
    text = [" "] * width
    free = 0
    for column, tick in ticks:
        start = min(max(0, GUTTER + column - len(tick.label) // 2), width - len(tick.label))
        if start >= free and tick.label:
            text[start : start + len(tick.label)] = tick.label
            free = start + len(tick.label) + 1
    return (("".join(text), "chart-axis"),)

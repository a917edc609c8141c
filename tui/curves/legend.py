"""The line above a chart: its title, its curves with their values, and what to know about it."""

from __future__ import annotations

from collections.abc import Sequence

from .chart_list import Chart
from .drawing import Canvas
from .rows import Bit, Row, cut_name, fitted, width_of

_LONGEST_NAMES = (24, 12, 7)
"""Columns for the name of a curve, tried one after the other until the line fits."""


def title_row(
    chart: Chart,
    values: Sequence[str],
    notes: Sequence[Bit],
    hint: str,
    width: int,
    is_selected: bool,
) -> Row:
    """As much of the legend as fits; notes about missing values always do."""
    head: list[Bit] = [("▸" if is_selected else " ", "chart-cursor")]
    head.append(
        (f"{cut_name(chart.title, max(8, width // 2))} ", "!heading" if is_selected else "heading")
    )
    tail: list[Bit] = []
    for note in notes:
        tail += [(" ", ""), note]
    for names, has_values, has_hint in _levels():
        items = _items(chart, values, names, has_values=has_values)
        end = [*tail, (f" {hint}", "quiet")] if has_hint and hint else tail
        room = width - width_of(head) - width_of(items) - width_of(end)
        if room >= 0:
            return fitted([*head, *items, *_rule(room), *end], width)
    room = width - width_of(tail)
    return fitted([*fitted(head, room), *tail], width) if room > 0 else fitted(head, width)


def _rule(width: int) -> list[Bit]:
    """A line that leads to the end of the row, and sets a chart off from the one above."""
    return [(" ", ""), ("─" * (width - 1), "chart-faint")] if width > 2 else [(" " * width, "")]


def _levels() -> list[tuple[int, bool, bool]]:
    full = [(names, True, names == _LONGEST_NAMES[0]) for names in _LONGEST_NAMES]
    return [
        full[0],
        (full[0][0], True, False),
        *full[1:],
        (_LONGEST_NAMES[-1], False, False),
        (0, False, False),
    ]


def _items(chart: Chart, values: Sequence[str], names: int, *, has_values: bool) -> list[Bit]:
    bits: list[Bit] = []
    run_name = ""
    for line, value in zip(chart.lines, values, strict=True):
        # The first curve of a run bears its name; what follows belongs to the same run.
        name = line.label if line.run_name == run_name else line.run_name
        run_name = line.run_name
        is_said = len(chart.lines) == 1 or name == chart.title or not names
        bits.append((" ━" if is_said else f" ━ {cut_name(name, names)}", f"chart-{line.colour}"))
        if has_values:
            bits.append((f" {value}", ""))
    return bits


def notes_of(canvas: Canvas | None, *, is_log: bool) -> list[Bit]:
    """What the picture cannot show: how many values are not numbers, or not positive."""
    notes: list[Bit] = []
    if canvas is not None and canvas.bad:
        notes.append((f"{canvas.bad:,} NaN/Inf", "severity-critical"))
    if canvas is not None and canvas.nonpositive:
        notes.append((f"{canvas.nonpositive:,} ≤ 0", "severity-warning"))
    if is_log:
        notes.append(("log", "quiet"))
    return notes

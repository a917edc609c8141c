"""How many charts fit into a pane, and where each of them goes."""

from __future__ import annotations

import math
from typing import NamedTuple

LEAST_WIDTH = 38
LEAST_HEIGHT = 8
GAP = 1
"""Columns between charts."""
_SHAPE = 3.6
"""Columns per row of a chart that reads well."""


class Box(NamedTuple):
    """A rectangle of cells."""

    x: int
    y: int
    width: int
    height: int


def capacity(width: int, height: int) -> int:
    """How many charts fit; one always does."""
    columns, rows = _most(width, height)
    return columns * rows


def _most(width: int, height: int) -> tuple[int, int]:
    """Columns and rows of charts."""
    columns, rows = (width + GAP) // (LEAST_WIDTH + GAP), height // LEAST_HEIGHT
    return (columns, rows) if columns and rows else (1, 1)


def arrange(count: int, width: int, height: int) -> list[Box]:
    """Rectangles for `count` charts that fill the pane; upper rows have the wider ones."""
    if count < 1 or width < 1 or height < 1:
        return []
    most_columns, most_rows = _most(width, height)
    fitting = [r for r in range(1, most_rows + 1) if math.ceil(count / r) <= most_columns]
    rows = min(fitting or [most_rows], key=lambda r: (_misfit(count, r, width, height), r))
    boxes: list[Box] = []
    rows = min(rows, count)
    for row in range(rows):
        top, bottom = height * row // rows, height * (row + 1) // rows
        # The remainder goes to the lower rows, so that the first chart is the widest.
        columns = count // rows + (row >= rows - count % rows)
        for column in range(columns):
            left = (width + GAP) * column // columns
            right = (width + GAP) * (column + 1) // columns - GAP
            boxes.append(Box(left, top, right - left, bottom - top))
    return boxes


def _misfit(count: int, rows: int, width: int, height: int) -> float:
    shape = (width / (count / rows)) / (height / rows)
    return abs(math.log(shape / _SHAPE))


def first_shown(count: int, room: int, selected: int, first: int) -> int:
    """The first chart to show, moved no further than the selected one needs."""
    first = min(max(first, selected - room + 1), selected)
    return max(0, min(first, count - room))

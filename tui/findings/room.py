"""How the pane's room is shared between the list and the detail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

WIDE_COLUMNS = 100
STACKED_COLUMNS, STACKED_ROWS = 70, 14
TALL_COLUMNS, TALL_ROWS = 40, 24
LEAST_WIDE_ROWS = 6
SUMMARY_ROWS = 5
"""What the summary of the selected finding would like."""


class Shape(StrEnum):
    """Which parts are seen at once."""

    SMALL = "small"
    """The list or the detail."""
    STACKED = "stacked"
    """The detail below the list."""
    WIDE = "wide"
    """The detail beside the list."""


@dataclass(frozen=True, slots=True)
class Room:
    """Cells of every part; a part with no rows is not shown."""

    shape: Shape
    left_width: int
    list_rows: int
    summary_rows: int
    detail_width: int


def shape_for(width: int, height: int) -> Shape:
    """The arrangement that makes the most of a size."""
    if width >= WIDE_COLUMNS and height >= LEAST_WIDE_ROWS:
        return Shape.WIDE
    if width >= STACKED_COLUMNS and height >= STACKED_ROWS:
        return Shape.STACKED
    if width >= TALL_COLUMNS and height >= TALL_ROWS:
        return Shape.STACKED
    return Shape.SMALL


def left_width(shape: Shape, width: int) -> int:
    """Columns of the list."""
    return min(56, max(40, width * 3 // 10)) if shape is Shape.WIDE else width


def share(width: int, height: int, verdict_rows: int, list_rows: int) -> Room:
    """Room for a list of so many rows below so many rows of verdict."""
    shape = shape_for(width, height)
    left = left_width(shape, width)
    below = max(0, height - verdict_rows)
    if shape is Shape.STACKED:
        rows = min(list_rows, max(2, below // 3))
        return Room(shape, left, rows, 0, width - 1)
    if shape is Shape.WIDE:
        rows = min(list_rows, below)
        return Room(shape, left, rows, below - rows, width - left - 3)
    # A rule and the title's first lines are worth more than the last of many rows.
    wished = min(SUMMARY_ROWS, max(0, below - min(list_rows, 4)))
    rows = min(list_rows, below - wished)
    return Room(shape, left, rows, below - rows, width - 1)

"""How the pane's room is shared between the list and the detail."""

from __future__ import annotations

from dataclasses import dataclass

from ..findings.room import Shape

WIDE_COLUMNS, LEAST_WIDE_ROWS = 96, 8
STACKED_COLUMNS, STACKED_ROWS = 60, 17
RICH_COLUMNS, RICH_ROWS = 50, 30
"""From which on it is said below an experiment what came out of it."""
ONE_LINE_COLUMNS, SPOKEN_ROWS = 60, 16
"""Below so many columns a statement needs lines of its own, if there are rows for that."""
GUTTER = 1
"""Cells left of every row, for the cursor's mark."""
SCROLLBAR = 2
"""Cells right of every row, used or not, so that nothing moves or touches when a list grows."""


@dataclass(frozen=True, slots=True)
class Room:
    """Cells of the parts: text widths, and rows of the list."""

    shape: Shape
    head_rows: int
    list_columns: int
    list_rows: int
    list_width: int
    detail_width: int
    is_rich: bool
    """There is room to say what came out of an experiment."""
    is_spoken: bool
    """A statement has lines of its own."""


def shape_for(width: int, height: int) -> Shape:
    """The arrangement that makes the most of a size."""
    if width >= WIDE_COLUMNS and height >= LEAST_WIDE_ROWS:
        return Shape.WIDE
    if width >= STACKED_COLUMNS and height >= STACKED_ROWS:
        return Shape.STACKED
    return Shape.SMALL


def share(width: int, height: int, head_rows: int) -> Room:
    """Room for the list and the detail below so many rows of head."""
    shape = shape_for(width, height)
    below = max(0, height - head_rows)
    columns, rows, detail = width, below, width
    if shape is Shape.WIDE:
        columns = min(78, max(44, width * 45 // 100))
        detail = width - columns - 1  # a rule between them
    elif shape is Shape.STACKED:
        rows = below * 11 // 20
    text = columns - GUTTER - SCROLLBAR
    is_rich = text >= RICH_COLUMNS and rows >= RICH_ROWS
    return Room(
        shape,
        head_rows,
        columns,
        rows,
        text,
        detail - GUTTER - SCROLLBAR,
        is_rich=is_rich,
        is_spoken=is_rich or (text < ONE_LINE_COLUMNS and rows >= SPOKEN_ROWS),
    )

"""The cursor: a place of the axis that moves from point to point and from mark to mark."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ..engine.curve_protocol import Mark
from .drawing import column_of
from .window import Extent


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where it is, and which of the marks it was sent to (-1 for none)."""

    x: float
    mark: int = -1


def moved(
    cursor: Cursor | None, places: Sequence[float], seen: Extent, columns: int, direction: int
) -> Cursor | None:
    """To the next point in another column; a new cursor starts at the end it comes from."""
    if not places:
        return cursor
    if cursor is None:
        return Cursor(places[-1] if direction < 0 else places[0])
    here = column_of(cursor.x, *seen, columns)
    if direction > 0:
        ahead = places[bisect_right(places, cursor.x) :]
        beyond = (x for x in ahead if column_of(x, *seen, columns) > here)
        return Cursor(next(beyond, max(places[-1], cursor.x)))
    behind = places[: bisect_left(places, cursor.x)]
    beyond = (x for x in reversed(behind) if column_of(x, *seen, columns) < here)
    return Cursor(next(beyond, min(places[0], cursor.x)))


def to_mark(cursor: Cursor | None, marks: Sequence[Mark], direction: int) -> Cursor | None:
    """To the next or previous mark; several at one place come one after the other."""
    if not marks:
        return cursor
    last = len(marks) - 1
    if cursor is None:
        index = 0 if direction > 0 else last
    elif 0 <= cursor.mark <= last and marks[cursor.mark].x == cursor.x:
        index = min(max(cursor.mark + direction, 0), last)
    else:
        places = [mark.x for mark in marks]
        after = (
            bisect_right(places, cursor.x) if direction > 0 else bisect_left(places, cursor.x) - 1
        )
        index = min(max(after, 0), last)
    return Cursor(marks[index].x, index)

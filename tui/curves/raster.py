"""Curves as dots: every column of dots is one integer, its lowest dot the lowest bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

# Dots of a braille cell from the bottom up: 7 3 2 1 on the left, 8 6 5 4 on the right.
_LEFT = (0x40, 0x04, 0x02, 0x01)
_RIGHT = (0x80, 0x20, 0x10, 0x08)


def _mixed(dots: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(d for bit, d in enumerate(dots) if n >> bit & 1) for n in range(16))


_LEFT_CODES, _RIGHT_CODES = _mixed(_LEFT), _mixed(_RIGHT)


@dataclass(frozen=True, slots=True)
class Stroke:
    """One bucket in dots: its column, its extremes and its mean."""

    column: int
    low: int
    high: int
    mean: float


def trace(strokes: Iterable[Stroke | None], columns: int, rows: int) -> list[int]:
    """Join strokes into a line; None breaks it; what is outside is cut off."""
    bits = [0] * columns
    top = rows - 1

    def fill(column: int, low: float, high: float) -> None:
        first, last = max(int(low), 0), min(int(high), top)
        if 0 <= column < columns and first <= last:
            bits[column] |= ((1 << (last - first + 1)) - 1) << first

    before: Stroke | None = None
    for stroke in strokes:
        if stroke is None:
            before = None
            continue
        fill(stroke.column, stroke.low, stroke.high)
        if before is not None:
            _join(before, stroke, columns, fill)
        before = stroke
    return bits


def _join(a: Stroke, b: Stroke, columns: int, fill: Callable[[int, float, float], None]) -> None:
    if b.column - a.column > 1:
        slope = (b.mean - a.mean) / (b.column - a.column)
        for column in range(max(a.column, 0), min(b.column, columns - 1) + 1):
            left = a.mean + slope * max(column - 0.5 - a.column, 0)
            right = a.mean + slope * min(column + 0.5 - a.column, b.column - a.column)
            fill(column, min(left, right) + 0.5, max(left, right) + 0.5)
    elif b.low > a.high + 1:
        middle = (a.high + b.low) // 2
        fill(a.column, a.high, middle)
        fill(b.column, middle + 1, b.low)
    elif b.high < a.low - 1:
        middle = (b.high + a.low) // 2
        fill(a.column, middle + 1, a.low)
        fill(b.column, b.high, middle)


def braille(bits: list[int], rows: int) -> dict[tuple[int, int], int]:
    """Columns of dots as braille patterns by cell: column, and row from the bottom."""
    cells: dict[tuple[int, int], int] = {}
    for column in range(0, len(bits) - 1, 2):
        left, right = bits[column], bits[column + 1]
        row = 0
        while left or right:
            code = _LEFT_CODES[left & 15] | _RIGHT_CODES[right & 15]
            if code:
                cells[column // 2, row] = code
            left, right, row = left >> 4, right >> 4, row + 1
    return {cell: code for cell, code in cells.items() if cell[1] < rows}


def stars(bits: list[int], rows: int) -> list[tuple[int, int]]:
    """The cells of dots that are as large as cells, for terminals without braille."""
    return [
        (column, row) for column, dots in enumerate(bits) for row in range(rows) if dots >> row & 1
    ]

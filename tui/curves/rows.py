"""Rows of a chart: pieces of text, each with what it means; the theme colours them later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len, set_cell_size

Bit = tuple[str, str]
"""Text and its meaning; empty is plain text, a leading `!` means bold."""
Row = tuple[Bit, ...]


def width_of(bits: Iterable[Bit]) -> int:
    """Columns that the text takes."""
    return sum(cell_len(text) for text, _ in bits)


def fitted(bits: Sequence[Bit], width: int) -> Row:
    """The row cut, or filled up, to exactly `width` columns."""
    row: list[Bit] = []
    left = width
    is_cut = width_of(bits) > width
    room = width - 1 if is_cut else width
    for text, meaning in bits:
        taken = min(cell_len(text), room)
        if taken <= 0:
            continue
        row.append((text if cell_len(text) <= room else set_cell_size(text, taken), meaning))
        room, left = room - taken, left - taken
    if is_cut and width > 0:
        row.append(("…", "quiet"))
        left -= 1
    if left > 0:
        row.append((" " * left, ""))
    return tuple(row)


def row_of(characters: Sequence[str], meanings: Sequence[str]) -> Row:
    """A row from single characters."""
    bits: list[Bit] = []
    start = 0
    for meaning, run in groupby(meanings):
        end = start + sum(1 for _ in run)
        bits.append(("".join(characters[start:end]), meaning))
        start = end
    return tuple(bits)


def changed_columns(old: Row, new: Row) -> tuple[int, int] | None:
    """The stretch of columns in which two rows of the same width differ."""
    if old == new:
        return None
    width = width_of(new)
    head = _shared(old, new)
    tail = _shared(old[::-1], new[::-1])
    return min(head, width - 1), max(head + 1, width - tail)


def _shared(old: Row, new: Row) -> int:
    """Columns of the leading pieces that are the same in both rows."""
    columns = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        columns += cell_len(one[0])
    return columns


def cut_name(name: str, width: int) -> str:
    """A name in at most `width` columns; its end tells metrics apart better than its start."""
    if cell_len(name) <= width:
        return name
    return ("…" + name[-(width - 1) :])[:width] if width > 1 else name[:width]

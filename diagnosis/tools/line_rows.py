"""Lines of a file as rows: their number before them, private keys masked."""

from __future__ import annotations

from collections.abc import Iterable

from ..artifacts import BookLine, Excerpt
from .tool import Row


def excerpt_rows(excerpt: Excerpt) -> list[Row]:
    """A row for each line, and a hidden one for the line before them."""
    before = [] if excerpt.before is None else [excerpt.before]
    return [*line_rows(before, is_hidden=True), *line_rows(excerpt.lines)]


def line_rows(lines: Iterable[BookLine], *, is_hidden: bool = False) -> list[Row]:
    """A row for each line; `812:` is one that was asked for, `812-` one beside it."""
    return [
        Row(
            line.text,
            f"{line.number}{':' if line.is_match else '-'} ",
            line.is_key,
            line.left_out,
            is_hidden,
        )
        for line in lines
    ]

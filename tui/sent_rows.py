"""A text cut into rows of a screen, word for word; nothing in it can act on the terminal."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len, chop_cells

TAB = 8
LEAST_WIDTH = 4
"""Cells below which a row makes no sense."""


class Row(NamedTuple):
    """Part of a line."""

    number: int
    """Of the line, from 1; 0 for its continuation."""
    text: str


def rows_of(text: str, width: int) -> list[Row]:
    """All of the text in rows of at most so many cells."""
    width = max(LEAST_WIDTH, width)
    rows: list[Row] = []
    # At line feeds alone: what else Python calls the end of a line is only another character.
    for number, line in enumerate(text.split("\n"), start=1):
        first, *others = _cut(escaped(line), width)
        rows.append(Row(number, first))
        rows += (Row(0, part) for part in others)
    return rows


def escaped(line: str) -> str:
    """The line with a dot for each control character.

    Not `printable`, which also shortens the names of copies: here it must be what is sent.
    """
    line = line.expandtabs(TAB)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else " " if c.isspace() else "·" for c in line)


def _cut(line: str, width: int) -> list[str]:
    if line.isascii():
        return _cut_words(line, width)
    return chop_cells(line, width) if cell_len(line) > width else [line]


def _cut_words(line: str, width: int) -> list[str]:
    """At a blank where there is one in the second half; every character stays."""
    parts: list[str] = []
    start = 0
    while len(line) - start > width:
        blank = line.rfind(" ", start + width // 2, start + width)
        end = start + width if blank < 0 else blank + 1
        parts.append(line[start:end])
        start = end
    parts.append(line[start:])
    return parts

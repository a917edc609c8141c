"""Lines made of pieces of text, each with a meaning; measured in terminal cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from ..cells import CUT, fitted, fitted_middle
from ..escaping import printable

LEAST_WIDTH = 4
"""Cells below which nothing is laid out with care."""


class Span(NamedTuple):
    """Some text and what it stands for: a name of the palette, or empty for plain text."""

    text: str
    meaning: str = ""


Line = tuple[Span, ...]
BLANK: Line = ()


def clean(text: str) -> str:
    """Outside text on one line, with nothing a terminal could act on."""
    return " ".join(printable(text).split())


def cells(line: Iterable[Span]) -> int:
    """How many cells a line takes."""
    return sum(cell_len(span.text) for span in line)


def text_of(line: Iterable[Span]) -> str:
    """A line without its meanings."""
    return "".join(span.text for span in line)


def clip(text: str, width: int) -> str:
    """Text in at most so many cells; what is cut off is marked."""
    return text if cell_len(text) <= width else fitted(text, width).rstrip()


def middle(text: str, width: int) -> str:
    """Text in at most so many cells; start and end stay, they tell names apart."""
    return text if cell_len(text) <= width else fitted_middle(text, width).rstrip()


def fit(line: Line, width: int) -> Line:
    """A line in at most so many cells."""
    if cells(line) <= width:
        return line
    kept: list[Span] = []
    room = width
    for span in line:
        size = cell_len(span.text)
        if size >= room:
            # One cell more than the room makes clip() mark the cut.
            kept.append(Span(clip(span.text + CUT * (size == room), room), span.meaning))
            break
        kept.append(span)
        room -= size
    return tuple(kept)


def spread(left: Line, right: Line, width: int) -> Line:
    """Left and right ends of a row of exactly so many cells; the left one gives way."""
    right = fit(right, width)
    room = width - cells(right)
    left = fit(left, room - 1 if right and room else room)
    return (*left, Span(" " * (room - cells(left))), *right)


def wrap(text: str, width: int, most: int = 0) -> list[str]:
    """Text in lines of at most so many cells; the last of `most` lines marks what is cut."""
    width = max(LEAST_WIDTH, width)
    lines: list[str] = []
    current = ""
    for word in clean(text).split(" "):
        joined = f"{current} {word}" if current else word
        if cell_len(joined) <= width:
            current = joined
            continue
        if current:
            lines.append(current)
        *full, current = chop_cells(word, width) or [""]
        lines.extend(full)
    lines.append(current)
    if 0 < most < len(lines):
        lines = [*lines[: most - 1], clip(lines[most - 1] + " " + CUT, width)]
    return lines


def hang(lead: Line, text: str, width: int, meaning: str = "", most: int = 0) -> list[Line]:
    """Text behind a lead, wrapped so that it stays in its own column."""
    indent = cells(lead)
    if indent > width - 2 * LEAST_WIDTH:
        rest = wrap(text, width - 2, most)
        return [fit(lead, width), *((Span("  "), Span(part, meaning)) for part in rest)]
    first, *rest = wrap(text, width - indent, most)
    gap = Span(" " * indent)
    return [(*lead, Span(first, meaning)), *((gap, Span(part, meaning)) for part in rest)]

"""Lines that many parts of the checklist are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from ..findings.blocks import Block, heading, plain
from ..findings.spans import Line, Span, cells, clean, fit, hang, spread

LEAST_ASIDE = 12
"""Cells below which a remark at the end of a row says nothing."""


def aside(left: Line, right: Line, width: int) -> Line:
    """A row whose right end gives way to its left one, and goes where nothing is left for it."""
    left = fit(left, width)
    room = width - cells(left) - 2
    if not right or room < min(LEAST_ASIDE, cells(right)):
        return left
    return spread(left, fit(right, room), width)


def unpadded(block: Block) -> Block:
    """The same block with blanks that have no meaning: some themes underline what has one."""
    return replace(block, lines=tuple(tuple(_unpadded(line)) for line in block.lines))


def _unpadded(line: Line) -> Iterator[Span]:
    for span in line:
        inner = span.text.strip(" ")
        if not inner or inner == span.text or span.meaning in ("", "quiet"):
            yield span
            continue
        before, _, after = span.text.partition(inner)
        yield from (
            piece for piece in (Span(before), span._replace(text=inner), Span(after)) if piece.text
        )


def label(name: str, text: str, width: int, meaning: str = "", *, column: int = 10) -> list[Line]:
    """A quiet name and what it stands for, wrapped in its own column."""
    return hang((Span(f"{name:<{column}} ", "quiet"),), text, width, meaning)


def paragraphs(text: str, width: int, meaning: str = "") -> Iterator[Line]:
    """Text of somebody's own, with its lines as they were made."""
    for line in text.splitlines() or [""]:
        yield from hang((), line, width, meaning)


def code_lines(text: str, width: int, lead: str = "│ ") -> Iterator[Line]:
    """Something to copy, in full: long lines go on below, and keep their indent."""
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        yield from hang((Span(lead + " " * indent, "quiet"),), line, width, "log-metric")


def section(title: str, lines: Iterable[Line], width: int, hint: str = "") -> Iterator[Block]:
    """A heading and what stands below it; nothing if there is nothing."""
    found = tuple(lines)
    if found:
        yield heading(title, width, hint)
        yield plain(*found)


def told(text: str) -> str:
    """Outside text on one line, with arrows as they are meant."""
    return clean(text).replace(" -> ", " → ")


def moment(at: datetime) -> str:
    """A moment as this place's clocks show it."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def short_moment(at: datetime) -> str:
    """A moment of these months."""
    return f"{at.astimezone():%m-%d %H:%M}"

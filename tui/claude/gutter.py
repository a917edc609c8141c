"""Who speaks, in a column of its own: the left edge of everything that was said."""

from __future__ import annotations

from ..findings.spans import Line, Span, hang

COLUMNS = 8
_LEAST_WIDTH = 40
"""Below this the column is not worth its cells."""


def label(who: str, width: int, meaning: str = "quiet") -> Span:
    """The column's text for one who speaks."""
    if width < _LEAST_WIDTH:
        return Span(f"{who} " if who else "  ", meaning)
    return Span(f"{who:>{COLUMNS - 2}}  ", meaning)


def spoken_lines(who: str, text: str, width: int, meaning: str = "", most: int = 0) -> list[Line]:
    """What one says, beside the column."""
    return hang((label(who, width),), text, width, meaning, most)

"""Citations: the place, what stands there, and what the check of it came to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..findings.blocks import Block
from ..findings.places import TWO_COLUMNS, WIDEST_REF
from ..findings.spans import Line, Span, cells, clean, hang, middle
from .paragraphs import remark
from .point import Point

if TYPE_CHECKING:
    from ..engine.consult_protocol import Cited, OpinedCause

QUOTE_LINES = 4
_MARKS = {
    "confirmed": ("✓", "severity-fine"),
    "elsewhere": ("✓", "severity-fine"),
    "wrong": ("✗", "severity-critical"),
    "unreadable": ("?", "severity-warning"),
}
_SAID = {
    "confirmed": "",
    "elsewhere": "found elsewhere",
    "wrong": "wrong",
    "unreadable": "not checked",
}
"""In words too, where neither colours nor strokes are seen."""
_HELD = ("confirmed", "elsewhere")


def cited_blocks(
    pieces: Sequence[Cited], width: int, cause: OpinedCause, key: Hashable, column: int
) -> Iterator[Block]:
    """A block per citation; the cursor stands on those that can be shown."""
    for number, piece in enumerate(pieces):
        lines = tuple(
            _words(piece, width) if piece.kind == "words" else _lines(piece, width, column)
        )
        target = Point(opined=cause, cited=piece) if piece.ref else None
        yield Block(lines, (key, number), target)


def place_column(pieces: Sequence[Cited], width: int) -> int:
    """How wide the column of places is, so that most of them fit."""
    longest = max((cells((Span(clean(piece.place)),)) for piece in pieces), default=0)
    if width < TWO_COLUMNS:
        return 0
    return min(longest, WIDEST_REF, max(width // 3, min(28, width * 2 // 5)))


def _words(piece: Cited, width: int) -> list[Line]:
    return hang((Span("   - ", "quiet"),), piece.quote or piece.shows, width)


def _lines(piece: Cited, width: int, column: int) -> Iterator[Line]:
    mark, colour = _MARKS.get(piece.verdict, _MARKS["unreadable"])
    is_struck = piece.verdict == "wrong"
    place, quote, shows = clean(piece.place), clean(piece.quote), clean(piece.shows)
    size = cells((Span(place),))
    sign: Line = (Span("   "), Span(mark, colour), Span(" "))
    named = Span(middle(place, width - 6), "struck" if is_struck else "log-metric")
    lead: Line = (*sign, named)
    indent: Line = (Span("     "),)
    if column and size <= column:
        indent = (Span(" " * (5 + column + 2)),)
        lead = (*lead, Span(" " * (column - size + 2)))
    elif quote or shows:
        yield lead
        lead = indent
    told = [(quote, "struck" if is_struck else ""), (shows, "struck" if is_struck else "quiet")]
    yield from _told([(text, meaning) for text, meaning in told if text], lead, indent, width)
    word = _SAID.get(piece.verdict, _SAID["unreadable"])
    if word or piece.reason:
        meaning = colour if piece.verdict not in _HELD else "quiet"
        yield from remark(indent, word or "confirmed", piece.reason, width, meaning)


def _told(told: list[tuple[str, str]], lead: Line, indent: Line, width: int) -> Iterator[Line]:
    """What stands there and what it shows: on one line if that is long enough for both."""
    first: Line = lead
    for text, meaning in told:
        first = (*first, Span(" · " * (first is not lead), "quiet"), Span(text, meaning))
    if cells(first) <= width:
        yield first
        return
    for text, meaning in told:
        yield from hang(lead, text, width, meaning, most=QUOTE_LINES)
        lead = indent

"""From the bytes of a line to cells on the screen; nothing a terminal could obey gets through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from mltd.runs.sources.line_text import (
    ESCAPE_MARK,
    MOST_COMBINED,
    UNKNOWN_MARK,
    ShownText,
    shown_text,
)
from mltd.runs.sources.text_lines import TextLine

from .colours import Pen
from .highlighting import highlight
from .styles import Styles

TAB = 8
MARGIN = 1
"""Blank cells behind every row, where the place in the file is shown."""
LONGEST_WRAPPED = 16 << 10
"""Characters of one line that are shown when lines are wrapped."""
_CONTROLS = frozenset([ESCAPE_MARK, UNKNOWN_MARK, "␡", *map(chr, range(0x2400, 0x2420))])

Spans = Sequence[tuple[int, int]]
FindMatches = Callable[[str], Spans]
"""Where the search matches in a shown line."""


def no_matches(_text: str) -> Spans:
    """Nothing is searched for."""
    return ()


class Painter:
    """Paints lines in one theme, over one background."""

    def __init__(self, styles: Styles, background: Style) -> None:
        self._styles = styles
        self.background = background

    def style(self, meaning: str) -> Style:
        """A meaning over the background."""
        return self.background + self._styles(meaning)

    def row(self, line: TextLine, matches: FindMatches, left: int, width: int) -> Strip:
        """The part of a line that is seen from column `left` on, and the margin."""
        # Every cell has at most one character and the marks that sit on it.
        strip = Strip(self._paint(line, matches, (left + width + 2) * (1 + MOST_COMBINED)))
        is_longer = strip.cell_length > left + width
        seen = list(strip.crop(left, left + width - is_longer))
        if is_longer and width > 0:
            seen.append(Segment("…", self.style("log-control")))
        return self._padded(seen, width)

    def rows(self, line: TextLine, matches: FindMatches, width: int) -> list[Strip]:
        """All rows of a wrapped line, each with the margin; at least one."""
        rows = _wrap(self._paint(line, matches, LONGEST_WRAPPED), width)
        return [self._padded(row, width) for row in rows]

    def _padded(self, segments: list[Segment], width: int) -> Strip:
        """Exactly `width` cells and the margin, in as few segments as possible."""
        blanks = width + MARGIN - Segment.get_line_length(segments)
        if blanks > 0:
            style = segments[-1].style if segments else None
            if style is None or style.reverse or style.underline:
                segments.append(Segment(" " * blanks, self.background))
            else:
                segments[-1] = Segment(segments[-1].text + " " * blanks, style)
        return Strip(segments).adjust_cell_length(width + MARGIN, self.background)

    def _paint(self, line: TextLine, matches: FindMatches, longest: int) -> list[Segment]:
        shown = shown_text(line.data)
        text = shown.text[:longest]
        pieces = self._pieces(text, shown, matches(text))
        left_out = line.clipped if b"\r" not in line.data else 0
        if len(shown.text) > longest:
            left_out += len(shown.text) - longest
        if left_out:
            pieces.append((f" … {left_out:,} more", self.style("log-control")))
        return _expand_tabs(pieces)

    def _pieces(self, text: str, shown: ShownText, matches: Spans) -> list[tuple[str, Style]]:
        """Stretches of one style: what the line is, then its parts, then what is searched for."""
        meaning, parts = highlight(text)
        base = self.style(meaning)
        if not shown.colours and not parts and not matches and text.isascii():
            return [(text, base)]
        styles: list[tuple[int, int, Style]] = []
        pen, begun = Pen(self._styles), 0
        style: Style | None = None
        for place, numbers in (*shown.colours, (len(text), "0")):
            if style is not None and begun < place:
                styles.append((begun, place, base + style))
            if begun >= len(text):
                break
            style, begun = pen.apply(numbers), place
        styles += [(part.start, part.end, base + self._styles(part.meaning)) for part in parts]
        if not text.isascii():
            control = self.style("log-control")
            styles += [(n, n + 1, control) for n, char in enumerate(text) if char in _CONTROLS]
        found = self.style("log-match") + Style(reverse=True)
        styles += [(start, end, found) for start, end in matches]
        return _overlay(text, base, styles)


def _overlay(
    text: str, base: Style, styles: list[tuple[int, int, Style]]
) -> list[tuple[str, Style]]:
    """Cut a text where its style changes; later styles lie over earlier ones."""
    # One style for every character: as many changes as there may be, the cost is the length.
    painted = [base] * len(text)
    for start, end, style in styles:
        end = min(end, len(text))
        painted[start:end] = [style] * (end - start)
    pieces: list[tuple[str, Style]] = []
    begun = 0
    for _, group in groupby(painted, id):
        end = begun + sum(1 for _ in group)
        pieces.append((text[begun:end], painted[begun]))
        begun = end
    return pieces


def _expand_tabs(pieces: list[tuple[str, Style]]) -> list[Segment]:
    segments: list[Segment] = []
    column = 0
    for text, style in pieces:
        if "\t" in text:
            expanded = ""
            for part in text.split("\t"):
                column += cell_len(part)
                gap = TAB - column % TAB
                expanded += part + " " * gap
                column += gap
            column -= gap
            text = expanded[: len(expanded) - gap]
        else:
            column += cell_len(text)
        if text:
            segments.append(Segment(text, style))
    return segments


def _wrap(segments: list[Segment], width: int) -> list[list[Segment]]:
    """Rows of at most `width` cells; no wide character is cut in two."""
    rows: list[list[Segment]] = [[]]
    room = width
    for text, style, _control in segments:
        start = 0
        while start < len(text):
            end, cells = _fitting(text, start, room)
            if end == start and room == width:
                # A wide character in a single column: it will be cut after all.
                end, cells = start + 1, width
            if end > start:
                rows[-1].append(Segment(text[start:end], style))
                room -= cells
                start = end
            if start < len(text):
                rows.append([])
                room = width
    return rows


def _fitting(text: str, start: int, room: int) -> tuple[int, int]:
    """How far a text goes in some cells, with the marks on its last letter, and their number."""
    if text.isascii():
        end = min(len(text), start + room)
        return end, end - start
    end, cells = start, 0
    while end < len(text) and cells + (size := cell_len(text[end])) <= room:
        cells += size
        end += 1
    return end, cells

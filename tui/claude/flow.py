"""Text that grows at its end, wrapped as it comes: what has its row is not laid out again."""

from __future__ import annotations

import re

from ..findings.spans import BLANK, LEAST_WIDTH, Line, Span, wrap

_BULLET = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s")
MOST_INDENT = 12
_LONGEST = 8
"""Characters per cell of a row: marks that take no cell must not make a row endless."""


class Flow:
    """Some text, in rows behind a lead; indents and bullets keep their column."""

    def __init__(self, text: str = "", meaning: str = "") -> None:
        self._meaning = meaning
        self._pieces: list[str] = [text] if text else []
        self._taken = 0
        """Pieces that have their rows."""
        self._shape: tuple[int, Span] | None = None
        self._rows: list[Line] = []
        """Rows that stay as they are."""
        self._open = ""
        """What stands in the last row."""
        self._indent = self._hang = 0
        self._is_fresh = self._is_first = True
        """Nothing of the line but blanks came so far; no row of it is full."""

    @property
    def text(self) -> str:
        """All of it, as it came."""
        return "".join(self._pieces)

    @property
    def has_words(self) -> bool:
        """True if there is more than blanks."""
        return any(piece and not piece.isspace() for piece in self._pieces)

    def add(self, text: str) -> None:
        """More of it."""
        if text:
            self._pieces.append(text)

    def lines(self, width: int, lead: Span) -> list[Line]:
        """Rows of at most so many cells; the lead stands before the first."""
        if self._shape != (width, lead):
            self._shape = (width, lead)
            self._rows, self._taken = [], 0
            self._begin_line()
        new, self._taken = "".join(self._pieces[self._taken :]), len(self._pieces)
        first, *rest = new.split("\n")
        self._extend(first)
        for part in rest:
            self._end_line()
            self._extend(part)
        if self._open:
            return [*self._rows, self._row(self._open.rstrip())]
        return self._rows[:-1] if self._rows and self._rows[-1] is BLANK else list(self._rows)

    def _extend(self, part: str) -> None:
        if self._is_fresh:
            content = part.lstrip()
            blanks = part[: len(part) - len(content)]
            self._indent = min(MOST_INDENT, self._indent + len(blanks.expandtabs(4)))
            if not content:
                return
            if self._indent == 1 or not self._rows:
                self._indent = 0  # a blank between two pieces, not a shape
            self._is_fresh, part = False, content
        if not part:
            return
        self._open += part
        if self._is_first:
            bullet = _BULLET.match(self._open)
            self._hang = self._indent + (len(bullet[0]) if bullet else 0)
        *full, last = wrap(self._open, self._room)
        for row in full:
            self._settle(row)
        self._open = last + " " * self._open[-1].isspace()
        if len(self._open) > _LONGEST * self._room:
            self._settle(self._open)
            self._open = ""

    def _end_line(self) -> None:
        if not self._is_fresh:
            if self._open:
                self._settle(self._open.rstrip())
        elif self._rows and self._rows[-1] is not BLANK:
            self._rows.append(BLANK)
        self._begin_line()

    def _begin_line(self) -> None:
        self._open, self._indent, self._hang = "", 0, 0
        self._is_fresh = self._is_first = True

    def _settle(self, text: str) -> None:
        self._rows.append(self._row(text))
        self._is_first = False

    def _row(self, text: str) -> Line:
        indent = min(self._indent if self._is_first else self._hang, self._most_indent)
        return self._gutter, Span(" " * indent + text, self._meaning)

    @property
    def _gutter(self) -> Span:
        assert self._shape is not None
        lead = self._shape[1]
        return lead if not self._rows else Span(" " * len(lead.text))

    @property
    def _most_indent(self) -> int:
        assert self._shape is not None
        return max(0, (self._shape[0] - len(self._shape[1].text)) // 3)

    @property
    def _room(self) -> int:
        assert self._shape is not None
        width, lead = self._shape
        return max(LEAST_WIDTH, width - len(lead.text) - min(self._hang, self._most_indent))

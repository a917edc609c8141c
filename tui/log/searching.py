"""A search in the log: its matches, the next one, and what is said about them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import NamedTuple

from mltd.runs.sources.line_scan import Conditions, compile_pattern, is_plain

from .painting import Spans
from .scanner import LineScanner

MOST_CHARACTERS = 4096
"""Of a line, in which matches are marked."""
MOST_REMEMBERED = 4000


class Step(NamedTuple):
    """A match to go to."""

    offset: int
    is_around: bool
    """The search went on from the other end."""


class LogSearch:
    """One pattern; `scanner` finds the lines, the rest is about those on the screen."""

    def __init__(self, pattern: str, filtered: Conditions, changed: Callable[[], None]) -> None:
        compiled = compile_pattern(pattern)
        self.pattern = pattern
        self.scanner = LineScanner(filtered._replace(find=pattern), changed)
        # Only a pattern that is its own text is tried here: any other could take for ever.
        self._plain: re.Pattern[str] | None = compiled if is_plain(pattern) else None
        self._known: dict[str, Spans] = {}
        self._unknown: dict[str, None] = {}
        self.note = ""

    def matches(self, text: str) -> Spans:
        """Where the pattern is in a shown line, as far as that is known yet."""
        text = text[:MOST_CHARACTERS]
        if self._plain is not None:
            return [match.span() for match in self._plain.finditer(text)]
        if text not in self._known:
            self._unknown[text] = None
        return self._known.get(text, ())

    @property
    def is_curious(self) -> bool:
        """True if it is not known yet where the pattern is in some line that was asked for."""
        return bool(self._unknown) and self.scanner.is_running

    async def learn(self) -> bool:
        """Find out where the pattern is in the lines that were asked for; true if that is new."""
        texts = list(self._unknown)
        self._unknown.clear()
        if not texts:
            return False
        spans = await self.scanner.spans(texts)
        if len(self._known) > MOST_REMEMBERED:
            self._known.clear()
        self._known.update(zip(texts, spans, strict=False))
        return any(spans)

    def first(self, offset: int, *, backwards: bool) -> Step | None:
        """Where to go when the search begins, once that is certain."""
        hits = self.scanner.hits
        place = bisect_right(hits, offset) - 1 if backwards else bisect_left(hits, offset)
        if 0 <= place < len(hits):
            return Step(hits[place], False)
        if self.scanner.is_done and hits:
            return Step(hits[-1] if backwards else hits[0], True)
        return None

    def next(self, offset: int) -> Step | None:
        """The match behind a line."""
        hits = self.scanner.hits
        place = bisect_right(hits, offset)
        return Step(hits[place % len(hits)], place >= len(hits)) if hits else None

    def previous(self, offset: int) -> Step | None:
        """The match before a line."""
        hits = self.scanner.hits
        place = bisect_left(hits, offset) - 1
        return Step(hits[place], place < 0) if hits else None

    def status(self, offset: int) -> str:
        """How many lines match, and which of them the current line is."""
        hits, scanner = self.scanner.hits, self.scanner
        so_far = "" if scanner.is_done else f" (so far, {scanner.share:.0%} searched)"
        place = bisect_left(hits, offset)
        if not hits:
            text = "no line matches" if scanner.is_done else f"searching {scanner.share:.0%}"
        elif place < len(hits) and hits[place] == offset:
            text = f"match {place + 1:,} of {len(hits):,}{so_far}"
        else:
            text = f"{len(hits):,} {'match' if len(hits) == 1 else 'matches'}{so_far}"
        return "; ".join(part for part in (text, self.note, scanner.problem) if part)

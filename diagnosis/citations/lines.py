"""Quoted lines of logs and source code: are they there, where it was said or elsewhere?"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from ..answer.citation import LogCitation, SourceCitation
from ..artifacts.errors import ArtifactError
from .checked import CheckedCitation, Verdict
from .desk import Cleaner, Desk, Struck
from .quotation import Laid, Piece, find, pieces_of, unlabelled, why_trivial
from .tokens import GAP, Token, tokens

if TYPE_CHECKING:
    from ..artifacts.artifact import BookLine

AROUND = 50
"""Lines before and after the named ones in which a quotation is looked for next."""
LONGEST_LINE = 8_000
"""Characters of a line that are looked at; the tools show fewer."""
_LONGEST_SPAN = 40
"""Lines over which a quotation with omissions may go where it was not said to stand."""
_LOOK_LINES = 200
_MOST_LOOKS = 5
"""Of 200 lines each, into a long stretch that is cited as a whole."""
_LOOK_SECONDS = 2.0
_ANCHOR_TOKENS = 8
_SHORTEST_WORD = 4
_LONGEST_NUMBER = 30
_GAP = r".?[ -/:-@\[-`{-~]{0,40}.?"
"""What may stand between two words: signs and blanks. Such a pattern is tried on many lines at
once, which one with `\\W` is not, as that may go over the end of a line."""
_ANY_GAP = r"\W{0,40}"
_KEY = "[masked: private key]"


class Spot(NamedTuple):
    """Lines on which a quotation stands."""

    first: int
    last: int


class Sought(NamedTuple):
    """How a search through the rest of a file went that found nothing."""

    problem: str = "the rest of the file was not searched"
    """Why it may stand there all the same; empty if it cannot."""
    lines: int | None = None
    """How many lines the file has, if it was gone through to its end."""


class LineLook:
    """One quotation: looked for at its place, then in lines that others have found for it."""

    def __init__(self, citation: LogCitation | SourceCitation, desk: Desk) -> None:
        """Raises `Struck` if it would show nothing, or names no file of the session."""
        self.citation = citation
        self._desk = desk
        name = citation.artifact if isinstance(citation, LogCitation) else citation.path
        self._first, self._last = first, last = citation.first_line, citation.last_line
        quotes = dict.fromkeys((citation.quote, unlabelled(citation.quote, first, last)))
        self._readings = [pieces_of(quote) for quote in quotes]
        if problem := why_trivial(self._readings[-1]):
            raise Struck(problem)
        try:
            self.artifact = desk.book.place(name).artifact.name
        except ArtifactError as refusal:
            raise Struck(str(refusal)) from None
        self._unread = ""
        """Why it may stand at its place although it was not seen there."""
        self._is_at_end = False

    @property
    def anchors(self) -> list[str]:
        """A pattern for each way to read it; what they find is looked at closely."""
        return list(dict.fromkeys(filter(None, map(_anchor, self._readings))))

    @property
    def word(self) -> str:
        """The word of it that stands in the fewest lines, as far as one can guess; or nothing."""
        words = [token.raw for token in _told(self._readings[-1]) if token.is_word]
        best = max(words, key=len, default="")
        # Of what is masked the longest word may be one that stands for a secret.
        return best if len(best) >= _SHORTEST_WORD and "masked" not in words else ""

    def at_place(self) -> CheckedCitation | None:
        """The verdict if it stands in the named lines or close to them."""
        spot = self._near() or self._within()
        return self._found(spot) if spot is not None else None

    def among(self, lines: Sequence[BookLine]) -> CheckedCitation | None:
        """The verdict if it stands in these lines of its file."""
        spot = self._best(lines)
        return self._found(spot) if spot is not None else None

    def unfound(self, sought: Sought) -> CheckedCitation:
        """The verdict if it was seen nowhere: struck, unless nobody can know."""
        is_one = self._first == self._last
        where = f"line {self._first:,}" if is_one else f"lines {self._first:,} to {self._last:,}"
        is_absent = sought.lines is not None and sought.lines < self._first
        has_lines = f"the file has {sought.lines or 0:,} lines, so there is no {where}"
        if sought.problem and self._unread and not is_absent:
            reason = f"the quotation was not found, but {self._unread}"
            return self._verdict(Verdict.UNREADABLE, reason)
        if sought.problem:
            place = has_lines if is_absent else f"what is quoted is not at {where}"
            return self._verdict(Verdict.WRONG, f"{place}; {sought.problem}")
        if is_absent:
            return self._verdict(Verdict.WRONG, f"{has_lines}, and nowhere else is what is quoted")
        return self._verdict(
            Verdict.WRONG,
            f"what is quoted stands neither at {where} nor anywhere else in the file",
        )

    def _found(self, spot: Spot) -> CheckedCitation:
        if spot.first <= self._last and spot.last >= self._first:
            return self._verdict(Verdict.CONFIRMED)
        reason = f"it is at line {spot.first:,}, not {self._first:,}"
        return self._verdict(Verdict.ELSEWHERE, reason, spot.first)

    def _verdict(
        self, verdict: Verdict, reason: str = "", line: int | None = None
    ) -> CheckedCitation:
        return CheckedCitation(citation=self.citation, verdict=verdict, reason=reason, line=line)

    def _near(self) -> Spot | None:
        """In the named lines and those around them."""
        start = max(1, self._first - AROUND)
        return self._best(self._read(start, min(self._last, start + _LOOK_LINES) + AROUND))

    def _within(self) -> Spot | None:
        """In the rest of a stretch that is longer than one look."""
        start = max(1, self._first - AROUND) + _LOOK_LINES
        for _ in range(_MOST_LOOKS):
            if start > self._last or self._unread or self._is_at_end:
                return None
            # From a little before: the quotation may begin in the look before this one.
            lines = self._read(start - AROUND, start + _LOOK_LINES - AROUND - 1)
            if spot := self._best(lines):
                return spot
            start += _LOOK_LINES - AROUND
        if start <= self._last:
            self._unread = f"the lines from {start:,} on were not read"
        return None

    def _read(self, first: int, last: int) -> tuple[BookLine, ...]:
        try:
            excerpt = self._desk.book.lines(
                self.artifact, first, last, longest=LONGEST_LINE,
                seconds=self._desk.seconds(_LOOK_SECONDS),
            )  # fmt: skip
        except ArtifactError as problem:
            # Perhaps it ends before; a search through the whole of it will tell.
            self._unread = str(problem)
            return ()
        lines = excerpt.lines
        reached = lines[-1].number
        self._is_at_end = excerpt.total is not None and reached >= excerpt.total
        if reached < min(last, self._last, first + _LOOK_LINES - 1) and not self._is_at_end:
            self._unread = f"the lines from {reached + 1:,} on were not read"
        named = (line for line in lines if self._first <= line.number <= self._last)
        self._unread = self._unread or too_long(named)
        return lines

    def _best(self, lines: Sequence[BookLine]) -> Spot | None:
        """The place that is nearest to the named one."""
        if not lines:
            return None
        cleaners = (None, self._desk.cleaner) if self._desk.cleaner is not None else (None,)
        for cleaner in cleaners:
            text, numbers = _laid_out(lines, cleaner)
            laid = Laid(text)
            spots = (spot for one in self._readings for spot in _spots(one, laid, text, numbers))
            allowed = (
                spot
                for spot in spots
                if spot.last - spot.first < _LONGEST_SPAN
                or (self._first <= spot.first and spot.last <= self._last)
            )
            if (best := min(allowed, key=self._distance, default=None)) is not None:
                return best
        return None

    def _distance(self, spot: Spot) -> int:
        return max(self._first - spot.last, spot.first - self._last, 0)


def too_long(lines: Iterable[BookLine]) -> str:
    """A sentence about a line that was not read to its end; empty if there is none."""
    cut = next((line for line in lines if line.is_match and line.left_out), None)
    return f"line {cut.number:,} is too long to be read to its end" if cut is not None else ""


def _spots(
    pieces: Sequence[Piece], laid: Laid, text: Sequence[Token], numbers: Sequence[int]
) -> Iterator[Spot]:
    gaps = [place for place, token in enumerate(text) if token.key == GAP]
    for start, end in find(pieces, laid):
        if bisect_right(gaps, end) == bisect_right(gaps, start):
            yield Spot(numbers[start], numbers[end])


def _laid_out(lines: Sequence[BookLine], cleaner: Cleaner | None) -> tuple[list[Token], list[int]]:
    """The tokens of some lines, with the number of the line of each."""
    texts = [_KEY if line.is_key else line.text for line in lines]
    if cleaner is not None:
        together = cleaner.clean("\n".join(texts)).split("\n")
        is_aligned = len(together) == len(texts)
        texts = together if is_aligned else [cleaner.clean(text) for text in texts]
    found: list[Token] = []
    numbers: list[int] = []
    before = lines[0].number - 1
    for line, text in zip(lines, texts, strict=True):
        made = tokens(text)
        if line.number != before + 1:
            made = [Token(GAP, GAP), *made]
        before = line.number
        found += made
        numbers += [line.number] * len(made)
    return found, numbers


def _anchor(pieces: Sequence[Piece]) -> str:
    """A pattern for the wordiest stretch of a quotation."""
    best: list[Token] = []
    for piece in pieces:
        told = _told([piece])
        for start in range(0, len(told), _ANCHOR_TOKENS):
            part = told[start : start + _ANCHOR_TOKENS]
            is_masked = any(token.raw == "masked" for token in part)
            if not is_masked and _weight(part) > _weight(best):
                best = part
    parts = [_any_notation(token) if token.is_number else re.escape(token.raw) for token in best]
    return (_GAP if all(part.isascii() for part in parts) else _ANY_GAP).join(parts)


def _any_notation(number: Token) -> str:
    """A pattern for a number as it may be written otherwise: 2.50 for 2.5, or with an exponent."""
    try:
        whole, _, part = f"{abs(Decimal(number.key[1:])):f}".partition(".")
    except ArithmeticError:
        return r"\d[\d.]*"
    if len(whole) + len(part) > _LONGEST_NUMBER:
        return r"\d[\d.]*([eE][-+]?\d+)?"
    end = rf"\.{part}0*" if part else r"(\.0*)?"
    return rf"(0*{whole.lstrip('0')}{end}|\d[\d.]*[eE][-+]?\d+)"


def _told(pieces: Sequence[Piece]) -> list[Token]:
    """Words and numbers that stand in the file as they are quoted."""
    found: list[Token] = []
    for piece in pieces:
        told = [token for token in piece.tokens if token.is_word or token.is_number]
        # What is cut may be anything, and what is masked does not stand in the file.
        found += told[piece.is_cut_before : len(told) - piece.is_cut_after]
    return found


def _weight(part: Sequence[Token]) -> int:
    return sum(len(token.raw) if token.is_word else 1 for token in part)

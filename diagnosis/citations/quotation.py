"""A quotation: pieces that must stand in a text in this order, and whether they say anything."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from .tokens import Token, folded, tokens

_ELLIPSIS = re.compile(
    r"(?P<before>\s?)(?:[\[(<]\s?(?:\.{3,}|…)[^\])>\n]{0,60}[\])>]|\.{3,}|…)(?P<after>\s?)"
)
_LABEL = re.compile(r"^[ \t>]*(?P<number>\d{1,12})[:|\-→\t][ \t]?", re.MULTILINE)
_SHORTEST = 4
_LONG = 60
"""Characters from which on a quotation may end within a word without saying so."""
_BETWEEN = "\x1f"
"""White space to the tokens, so none of them holds it."""
_FEW_NUMBERS = 3
"""So many numbers in a row are a line of a table; fewer stand anywhere."""
_WORDS = (
    "accuracy batch config cuda debug device epoch error exception false file gradient "
    "info iter iteration learning line loss lr memory model nan none null python rate "
    "step time torch traceback train training true valid validation value warn warning"
)
_COMMON = frozenset(_WORDS.split())
"""Words that stand in every log: alone they show nothing."""


class Piece(NamedTuple):
    """What stands between two omissions."""

    tokens: tuple[Token, ...]
    is_cut_before: bool = False
    """Its first word may be the end of a longer one."""
    is_cut_after: bool = False


def pieces_of(quote: str) -> list[Piece]:
    """The pieces of a quotation, split where it says that something was left out."""
    text = folded(quote)
    found: list[Piece] = []
    start, is_cut_before = 0, False
    for gap in _ELLIPSIS.finditer(text):
        found += _piece(text[start : gap.start()], is_cut_before, not gap["before"])
        start, is_cut_before = gap.end(), not gap["after"]
    rest = list(_piece(text[start:], is_cut_before, False))
    if rest and len(quote) >= _LONG and rest[-1].tokens[-1].is_word:
        # Cut off at some number of characters; of a number the rest would matter.
        rest[-1] = rest[-1]._replace(is_cut_after=True)
    return [*found, *rest]


def _piece(text: str, is_cut_before: bool, is_cut_after: bool) -> Iterator[Piece]:
    if made := tuple(tokens(text)):
        yield Piece(made, is_cut_before, is_cut_after)


def unlabelled(quote: str, first: int, last: int) -> str:
    """The quotation without line numbers before its lines, if that is what they are."""
    lines = [line for line in quote.split("\n") if line.strip()]
    labels = [_LABEL.match(line) for line in lines]
    numbers = [int(label["number"]) for label in labels if label is not None]
    is_labelled = len(numbers) == len(lines) and all(first <= n <= last for n in numbers)
    return _LABEL.sub("", quote) if numbers and is_labelled else quote


def why_trivial(pieces: Sequence[Piece]) -> str:
    """Why a quotation would show nothing wherever it stood; empty if it would."""
    if not pieces:
        return "nothing is quoted"
    everything = [token for piece in pieces for token in piece.tokens]
    if sum(len(token.raw) for token in everything) < _SHORTEST:
        return "the quotation is too short to show anything"
    words = [token.raw for token in everything if token.is_word]
    numbers = sum(token.is_number for token in everything)
    if not words and numbers < _FEW_NUMBERS:
        return "a bare number shows nothing" if numbers else "the quotation holds no words"
    if not numbers and len(words) == 1 and words[0].casefold() in _COMMON:
        return "a word that stands in every log shows nothing"
    # "e ... r": of what is that short, the order proves nothing.
    if max(sum(len(t.raw) for t in piece.tokens) for piece in pieces) < _SHORTEST:
        return "its pieces are too short to show anything"
    return ""


class Laid:
    """Tokens of a text in one string, in which places are found at the speed of a text search."""

    def __init__(self, text: Sequence[Token]) -> None:
        self.joined = f"{_BETWEEN}{_BETWEEN.join(token.key for token in text)}{_BETWEEN}"
        lengths = (len(token.key) + 1 for token in text)
        self._starts = list(accumulate(lengths, initial=1))

    def token_at(self, place: int) -> int:
        """The token to which a character belongs."""
        return bisect_right(self._starts, place) - 1


def find(pieces: Sequence[Piece], text: Laid) -> Iterator[tuple[int, int]]:
    """Where the pieces stand in a text in their order: first and last token of each place."""
    needles = [_needle(piece) for piece in pieces]
    # Places only ever move on, so that what was found for one start holds for the next ones.
    places = [-1] * len(pieces)
    while (start := text.joined.find(needles[0], places[0] + 1)) >= 0:
        places[0] = start
        end = start + len(needles[0]) - 1
        for number, needle in enumerate(needles[1:], start=1):
            if places[number] < end:
                places[number] = text.joined.find(needle, end)
            if places[number] < 0:
                return
            end = places[number] + len(needle) - 1
        first = text.token_at(start + (not pieces[0].is_cut_before))
        yield first, text.token_at(end - (not pieces[-1].is_cut_after))


def _needle(piece: Piece) -> str:
    body = _BETWEEN.join(token.key for token in piece.tokens)
    if piece.is_cut_before:
        return body.removeprefix("#") + _BETWEEN * (not piece.is_cut_after)
    return _BETWEEN + body + _BETWEEN * (not piece.is_cut_after)

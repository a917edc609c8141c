"""Blocks: a heading that names a split, and the lines that are indented below it.

Test metrics:
    Accuracy: 0.93
    Loss: 0.21
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..roles import Roles

_MOST_HEADING = 120
"""Characters."""
_MOST_WORDS = 4
MOST_LINES = 64
"""Below a heading; longer blocks are something else."""
_DECORATION = re.compile(r"^[\s*=\-#>+~_]{3,}(?=\w)|[\s*=\-#<+~_]+$")
_CLAUSE = re.compile(r"\s[-–|]+\s|[:;,\]]\s+")
_WORD = re.compile(r"[^\W\d_]+")
_BRACKETED = re.compile(r"\[\w+\]")
_INDENT = re.compile(rb"[ \t]*")


def split_of_heading(text: str, roles: Roles) -> str:
    """The split that a heading names, nothing if the line is none."""
    if len(text) > _MOST_HEADING:
        return ""
    words = text.strip()
    is_called = words.endswith(":")
    clause = _CLAUSE.split(_DECORATION.sub("", words[:-1] if is_called else words))[-1]
    found = _WORD.findall(clause)
    if not 0 < len(found) <= _MOST_WORDS or any(map(str.isdigit, clause)):
        return ""
    is_banner = clause.isupper() or _DECORATION.match(words) is not None
    is_banner |= _BRACKETED.fullmatch(words) is not None
    return roles.split_of(clause) if is_called or is_banner else ""


class Blocks:
    """The lines below headings; a block may go on in the next chunk."""

    __slots__ = ("_depth", "_left", "_split")

    def __init__(self) -> None:
        self._split, self._depth, self._left = "", 0, 0

    def splits(
        self, pieces: Sequence[bytes], count: int, headings: Mapping[int, str]
    ) -> dict[int, str]:
        """The split of each of the first `count` lines that stands below a heading."""
        found: dict[int, str] = {}
        start = 0
        for heading, split in headings.items():
            self._go_on(pieces, start, heading, found)
            self._split, self._depth, self._left = split, _depth(pieces[heading]), MOST_LINES
            start = heading + 1
        self._go_on(pieces, start, count, found)
        return found

    def _go_on(self, pieces: Sequence[bytes], start: int, end: int, found: dict[int, str]) -> None:
        for place in range(start, end):
            if self._left == 0:
                return
            self._left -= 1
            piece = pieces[place]
            if not piece or piece.isspace():
                continue
            if _depth(piece) <= self._depth:
                self._left = 0
            else:
                found[place] = self._split


def _depth(piece: bytes) -> int:
    indent = _INDENT.match(piece)
    return 0 if indent is None else len(indent[0].expandtabs(8))

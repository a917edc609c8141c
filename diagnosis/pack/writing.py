"""From pages to the text of a section: masked, marked as data, and never beyond its room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..tools.safe_text import clipped, in_quotes, safe
from ..tools.tool import Page, Row
from .allotting import in_turn

if TYPE_CHECKING:
    from mltd.sessions.masking import Masker

MOST_ROWS = 400
"""Of one page: what is behind them is named, not sent."""
LONGEST_LINE = 600
_MASKED_LINE = 4096
"""A line is masked before it is cut, so that no half of a secret is left."""
_SECRET = "[masked: private key]"
_FEWEST_ROWS = 3
"""Fewer of a longer page tell nothing."""
_NOTE = 300
_GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class Draft:
    """A section before it is cut: pages, the most informative first."""

    title: str
    share: float
    """Of the budget, beside those of the others."""
    pages: Sequence[Page]
    opening: str = ""
    """First line of the document; such a section has something in it however small the room is."""


class Written(NamedTuple):
    """A section as it goes out, and what did not fit."""

    text: str
    left_out: tuple[str, ...] = ()


class CleanPage:
    """A page without secrets, that can be written at any length."""

    def __init__(self, page: Page, masker: Masker) -> None:
        self._page, self._masker = page, masker
        self.brief = " ".join(_words(page.brief, masker).split())
        self._head = _words(page.head, masker)
        self._tail = _words(page.tail, masker)
        taken = page.rows[:MOST_ROWS]
        self._rows, self._is_one = _masked(taken, masker)
        self._beyond = len(page.rows) - len(taken)

    def whole(self) -> str:
        """All of it."""
        return self._at(len(self._rows))

    def within(self, room: int) -> tuple[str, int]:
        """As much as there is room for, and how many rows are left out; empty if nothing fits."""
        if len(text := self.whole()) <= room:
            return text, self._beyond
        low, high = 0, len(self._rows)
        while low < high - 1:
            middle = (low + high) // 2
            low, high = (middle, high) if len(self._at(middle)) <= room else (low, middle)
        while low > 0 and len(self._at(low)) > room:
            low -= 1
        if low < min(_FEWEST_ROWS, max(1, len(self._rows) - 1)):
            return "", self._left(0)
        return self._at(low), self._left(low)

    def cut(self, room: int) -> str:
        """The beginning, where nothing at all would be worse."""
        return self.whole()[: max(0, room)].rstrip()

    def _left(self, shown: int) -> int:
        return len(self._rows) - shown + self._beyond

    def _at(self, shown: int) -> str:
        page = self._page
        # Where masking changed the number of lines, nobody knows which row is which.
        known = min(MOST_ROWS, len(page.rows)) if self._is_one else shown
        parts = [self._head] if self._head else []
        if shown:
            about = page.about(known) if callable(page.about) else page.about
            cleaned = ((key, in_quotes(self._masker.clean(v))) for key, v in about.items())
            marks = "".join(f' {key}="{value}"' for key, value in cleaned)
            parts.append("\n".join([f"<data{marks}>", *self._rows[:shown], "</data>"]))
        if left := self._left(shown):
            rest = page.rest
            if callable(rest):
                rest = rest(known) if 0 < known < len(page.rows) else "ask for the rest"
            parts.append(f"({left:,} more lines did not fit: {_words(rest, self._masker)})")
        if self._tail:
            parts.append(self._tail)
        return "\n".join(parts)


def clean_pages(draft: Draft, masker: Masker) -> list[CleanPage]:
    """All pages of a section, masked."""
    return [CleanPage(page, masker) for page in draft.pages]


def need(draft: Draft, pages: Sequence[CleanPage]) -> int:
    """Characters of the whole section."""
    return len(_section(draft, [page.whole() for page in pages]))


def write(draft: Draft, pages: Sequence[CleanPage], room: int) -> Written:
    """The section within so many characters; empty text if not one of its pages fits."""
    inner = room - len(_section(draft, [""]))
    needs = [len(page.whole()) + len(_GAP) for page in pages]
    is_cut = sum(needs) > inner + len(_GAP)
    shares = in_turn(needs, inner - _NOTE if is_cut and inner > 3 * _NOTE else inner)
    texts: list[str] = []
    left_out: list[str] = []
    gone: list[str] = []
    spare = len(_GAP)
    for page, share in zip(pages, shares, strict=True):
        text, left = page.within(share + spare - len(_GAP))
        if not text and draft.opening and not texts:
            text = page.cut(share + spare - len(_GAP))
        spare += share - (len(text) + len(_GAP) if text else 0)
        if text:
            texts.append(text)
            left_out += [f"{draft.title}: {left:,} lines of {page.brief}"] if left else []
        else:
            gone.append(page.brief)
    left_out += [f"{draft.title}: {brief}" for brief in gone]
    if not texts:
        return Written("", tuple(left_out))
    if gone and len(note := _gone(gone)) + len(_GAP) <= inner - len(_GAP.join(texts)):
        texts.append(note)
    return Written(_section(draft, texts), tuple(left_out))


def _gone(briefs: Sequence[str]) -> str:
    shown, more = list(briefs[:3]), len(briefs) - 3
    told = "; ".join(brief[:70] for brief in shown) + (f"; {more:,} more" if more > 0 else "")
    return f"(Did not fit here: {told}.)"


def _section(draft: Draft, texts: Sequence[str]) -> str:
    opening = f"{draft.opening}{_GAP}" if draft.opening else ""
    return f"{opening}## {draft.title}{_GAP}{_GAP.join(texts)}{_GAP}"


def _words(text: str, masker: Masker) -> str:
    """Our own sentences: names in them are from files all the same."""
    return masker.clean("\n".join(map(safe, text.split("\n"))))


def _masked(rows: Sequence[Row], masker: Masker) -> tuple[list[str], bool]:
    """The rows as text, and whether they could not be told apart any more.

    They are masked together, since a secret may go over several lines, and only after escape codes
    were taken out of it; then each once more with its label, as it will be read.
    """
    texts = [_SECRET if row.is_secret else safe(row.text[:_MASKED_LINE]) for row in rows]
    cleaned = masker.clean("\n".join(texts)).split("\n") if texts else []
    if len(cleaned) != len(texts):
        return [clipped(safe(text), 0, LONGEST_LINE) for text in cleaned], True
    labelled = [
        clipped(
            safe(masker.clean(row.label + text)),
            row.left_out + max(0, len(row.text) - _MASKED_LINE),
            LONGEST_LINE,
        )
        for row, text in zip(rows, cleaned, strict=True)
    ]
    return labelled, False

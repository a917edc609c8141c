"""From a page to the text that is sent: masked, marked as data, and never beyond its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .safe_text import clipped, in_quotes, one_line, safe
from .tool import Page, Row, ToolResult

if TYPE_CHECKING:
    from mltd.sessions.masking import Masker

MOST_BYTES = 8000
_KEPT_BACK = 900
"""For the tags, and for the words behind the rows."""
_MASKED_CHARACTERS = 3 * MOST_BYTES
"""More rows than this never fit, so they are not looked at."""
_MASKED_LINE = 4096
"""A line is masked before it is cut, so that no half of a secret is left."""
_LONGEST_WORDS = 1500
_SECRET = "[masked: private key]"


def render(page: Page, masker: Masker) -> ToolResult:
    """The page as it goes out."""
    head = _words(page.head, masker)
    texts, count = _masked(page.rows, masker)
    room = MOST_BYTES - _KEPT_BACK - len(head.encode())
    shown = _fitting(texts, room)
    # Rows that were masked as one are told as one, or not at all.
    told = count if len(shown) == len(texts) else min(len(shown), count)
    parts = [head] if head else []
    if shown:
        about = page.about(told) if callable(page.about) else page.about
        marks = "".join(f' {key}="{in_quotes(masker.clean(v))}"' for key, v in about.items())
        parts.append("\n".join([f"<data{marks}>", *shown, "</data>"]))
    left = sum(not row.is_hidden for row in page.rows) - told
    if left > 0:
        rest = page.rest(told) if callable(page.rest) else page.rest
        parts.append(f"({left:,} more lines did not fit: {_words(rest, masker, 400)})")
    if page.tail:
        parts.append(_words(page.tail, masker, 400))
    text = _cut("\n".join(parts), MOST_BYTES) or "(nothing)"
    return ToolResult(text, page.is_error, one_line(masker.clean(page.brief)))


def _words(text: str, masker: Masker, most: int = _LONGEST_WORDS) -> str:
    """Our own sentences: names in them are from files all the same."""
    lines = masker.clean(text[: 2 * most]).split("\n")
    return "\n".join(map(safe, lines))[:most]


def _masked(rows: Sequence[Row], masker: Masker) -> tuple[list[str], int]:
    """The texts of the rows that may fit, and how many rows they are; all masked together.

    A secret may go over several lines. Where masking one changes their number, nobody knows any
    more which label is whose, and they go without.
    """
    taken: list[Row] = []
    size = 0
    for row in rows:
        taken.append(row)
        size += len(row.label) + len(row.text[:_MASKED_LINE])
        if size > _MASKED_CHARACTERS:
            break
    if not taken:
        return [], 0
    texts = [_SECRET if row.is_secret else _one(row.text[:_MASKED_LINE]) for row in taken]
    cleaned = masker.clean("\n".join(texts)).split("\n")
    if len(cleaned) != len(texts):
        return [clipped(safe(text)) for text in cleaned], sum(not row.is_hidden for row in taken)
    labelled = [
        row.label + clipped(safe(text), row.left_out + max(0, len(row.text) - _MASKED_LINE))
        for row, text in zip(taken, cleaned, strict=True)
        if not row.is_hidden
    ]
    return labelled, len(labelled)


def _one(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _fitting(texts: Sequence[str], room: int) -> list[str]:
    """As many rows as there is room for; of the first one at least its beginning."""
    shown: list[str] = []
    for text in texts:
        size = len(text.encode()) + 1
        if size > room:
            if not shown:
                shown.append(_cut(text, room))
            break
        shown.append(text)
        room -= size
    return shown


def _cut(text: str, most: int) -> str:
    data = text.encode()
    return text if len(data) <= most else data[: most - 4].decode("utf-8", "ignore") + "…"

"""The pen: every word of outside text goes through it on its way into a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import JsonValue

from mltd.runs.remote.names import shown

from .markdown import code, code_cell, escaped, fence
from .neutral import clipped, cut_at_word, middle_cut, neutral, one_line, shortened

LINE = 400
"""Characters of a sentence."""
CELL = 200
QUOTE = 160
FENCE_LINES = 60
FENCE_COLUMNS = 220
_AHEAD = 4
"""Times what is shown that is looked at for secrets."""
_MOST_CHARACTERS = 200_000
"""Looked at of any one text: nobody reads more, and masking takes time."""


class Cleaner(Protocol):
    """Takes secrets out of a text, and on request names, hosts and paths."""

    def clean(self, text: str) -> str:
        """The text without them."""

    def clean_value(self, value: Any) -> Any:
        """The same for all that JSON can hold."""


class Pen:
    """Writes outside text as Markdown.

    First what could hide a secret is taken out, then the secrets, and only then is the text
    cut: half a key would not be known for one.
    """

    def __init__(self, cleaner: Cleaner) -> None:
        self._cleaner = cleaner

    def clean(self, text: str) -> str:
        """The text, neutral and without secrets; its lines stay."""
        return self._cleaner.clean(neutral(shown(text[:_MOST_CHARACTERS])))

    def clean_value(self, value: JsonValue) -> JsonValue:
        """All that JSON can hold, without secrets; texts must be neutral already."""
        cleaned: JsonValue = self._cleaner.clean_value(value)
        return cleaned

    def plain(self, text: str, most: int = LINE) -> str:
        """One line of plain text."""
        return clipped(one_line(self.clean(text)), most)

    def text(self, text: str, most: int = LINE) -> str:
        """One line of Markdown that is nothing but text."""
        return escaped(self.plain(text, most))

    def headline(self, text: str, most: int) -> str:
        """The same, and a long one ends with a whole word."""
        return escaped(cut_at_word(one_line(self.clean(text)), most))

    def cell(self, text: str) -> str:
        """The same for a cell of a table."""
        return self.text(text, CELL)

    def code(self, text: str, most: int = QUOTE) -> str:
        """A code span, outside of tables."""
        return code(self.plain(text, most))

    def code_cell(self, text: str, most: int = QUOTE) -> str:
        """A code span in a cell of a table."""
        return code_cell(self.plain(text, most))

    def fence(self, text: str, language: str = "text", lines: int = FENCE_LINES) -> str:
        """Lines as they are, in a fence; too many are cut in the middle."""
        return self.fenced(self.clean(text).split("\n"), language, lines)

    def fenced(self, cleaned: Sequence[str], language: str = "text", lines: int = 0) -> str:
        """Lines that are clean already, in a fence."""
        kept = [clipped(line.rstrip(), FENCE_COLUMNS) for line in cleaned]
        kept = middle_cut(kept, lines) if lines else kept
        return fence("\n".join(kept), language)

    def paragraphs(self, text: str, most: int) -> list[str]:
        """Paragraphs of Markdown that are nothing but text; a note tells what is left out."""
        kept = self._beginning(text, most)
        return [escaped(line) for part in kept.split("\n\n") if (line := one_line(part))]

    def _beginning(self, text: str, most: int) -> str:
        """The first `most` characters, clean, and how many are left out."""
        text = text.strip()
        if len(text) > _AHEAD * most:
            # Masking takes time, and no secret reaches from what is shown to where this is cut;
            # unless what was masked was most of it.
            ahead = self.clean(text[: _AHEAD * most]).strip()
            if len(ahead) > 2 * most:
                return shortened(ahead, most, len(text))
        return shortened(self.clean(text).strip(), most)

    def quote(self, text: str, most: int = 0) -> str:
        """Several lines that somebody wrote, as a block of quotation with the lines kept.

        Long lines are cut; with `most`, only what goes beyond so many characters in all.
        """
        if most:
            lines = [one_line(line) for line in self._beginning(text, most).split("\n")]
        else:
            lines = [clipped(one_line(line), LINE) for line in self.clean(text).strip().split("\n")]
        said = [escaped(line) for line in middle_cut(lines, FENCE_LINES)]
        broken = (
            f"> {line}\\" if line and following else f"> {line}".rstrip()
            for line, following in zip(said, [*said[1:], ""], strict=True)
        )
        return "\n".join(broken)

"""Text of several lines, wrapped."""

from __future__ import annotations

from ..findings.spans import Line, Span, hang
from .flow import Flow


def paragraphs(text: str, width: int, lead: str = "", meaning: str = "") -> list[Line]:
    """All of a text in lines of at most so many cells; lists keep their shape."""
    return Flow(text.rstrip(), meaning).lines(width, Span(lead))


def remark(indent: Line, word: str, text: str, width: int, meaning: str) -> list[Line]:
    """A sentence whose first words carry its meaning: a whole one in reverse would shout."""
    first, *rest = hang(indent, f"{word}: {text}" if text else word, width)
    *before, said = first
    if not said.text.startswith(word):
        return [first, *rest]
    marked = (Span(said.text[: len(word)], meaning), Span(said.text[len(word) :]))
    return [(*before, *marked), *rest]

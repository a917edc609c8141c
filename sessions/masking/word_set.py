"""Sets of words, written as text."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())

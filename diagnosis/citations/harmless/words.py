"""The words by which harmless text is recognised, read once."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def _listed() -> dict[str, dict[str, frozenset[str]]]:
    text = resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8")
    return {
        part: {
            name: frozenset(words.split() if isinstance(words, str) else words)
            for name, words in lists.items()
        }
        for part, lists in tomllib.loads(text).items()
    }


def words(part: str, name: str) -> frozenset[str]:
    """One of the lists."""
    return _listed()[part][name]

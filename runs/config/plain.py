"""Anything a parser may return, as plain data of bounded size."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set

MOST_DEPTH = 40
MOST_VALUES = 50_000
MOST_TEXT = 10_000

_NUMBER = re.compile(
    r"[+-]?(?:(?P<whole>\d{1,30})|(?:\d{1,300}\.\d{0,300}|\.\d{1,300}|\d{1,300}(?=[eE]))(?:[eE][+-]?\d{1,4})?)"
)
_WORDS: dict[str, object] = {
    "None": None,
    "null": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
    "nan": math.nan,
    "NaN": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
}


def plain_dict(value: object) -> dict[str, object]:
    """A mapping with text keys and plain values, without what is too deep or too much.

    References to the same object are copied, so a few lines of YAML cannot stand for
    gigabytes: when the budget is used up the rest is left out.
    """
    budget = [MOST_VALUES]
    result = _plain(value, 0, budget)
    return result if isinstance(result, dict) else {}


def _plain(value: object, depth: int, budget: list[int]) -> object:
    budget[0] -= 1
    if isinstance(value, str):
        return value[:MOST_TEXT]
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 256 else float("inf")
    if depth >= MOST_DEPTH or budget[0] <= 0:
        return "…"
    if isinstance(value, Mapping):
        found: dict[str, object] = {}
        for key, inner in value.items():
            if budget[0] <= 0:
                break
            found[str(key)[:200]] = _plain(inner, depth + 1, budget)
        return found
    if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray):
        items = []
        for inner in value:
            if budget[0] <= 0:
                break
            items.append(_plain(inner, depth + 1, budget))
        return items
    return str(value)[:MOST_TEXT]


def read_scalar(text: str) -> object:
    """A number, a truth value or nothing where a text says so, else the text."""
    if text in _WORDS:
        return _WORDS[text]
    if found := _NUMBER.fullmatch(text):
        return int(text) if found["whole"] else float(text)
    return text

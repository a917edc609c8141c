"""Texts as words, numbers and signs: two that mean the same look the same, however spaced."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

GAP = "\0"
"""Stands between lines that do not follow each other; no quotation goes over it."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|.?)", re.DOTALL)
_FOLDED = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2039": "<",
        "\u203a": ">",
        # What stands for a character that cannot be shown is not quoted by everybody.
        **dict.fromkeys("␛·\ufffd\ufeff", None),
        **dict.fromkeys((chr(code) for code in range(0x2400, 0x2422)), None),
    }
)
_NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_TOKEN = re.compile(
    rf"(?P<number>(?:(?<![\w)\].])[-+])?{_NUMBER})"
    r"|(?P<word>[^\W\d]\w*(?:(?<=\d)\.\d\w*)*)"
    r"|\S"
)
_LONGEST_NUMBER = 25
"""Digits up to which numbers are compared by value."""


class Token(NamedTuple):
    """A piece of text."""

    key: str
    """What is compared: numbers in one notation."""
    raw: str

    @property
    def is_number(self) -> bool:
        """True for a number."""
        return self.key.startswith("#")

    @property
    def is_word(self) -> bool:
        """True for a word."""
        return not self.is_number and (self.raw[0].isalpha() or self.raw[0] == "_")


def folded(text: str) -> str:
    """The text without colours, with plain quotation marks and dashes."""
    if text.isascii() and "\x1b" not in text:
        return text
    return _ESCAPES.sub("", text).translate(_FOLDED)


def tokens(text: str) -> list[Token]:
    """The pieces of a text; white space only parts them."""
    return [
        Token(_canonical(found[0]) if found["number"] else found[0], found[0])
        for found in _TOKEN.finditer(folded(text))
    ]


@lru_cache(maxsize=4096)
def _canonical(number: str) -> str:
    if len(number) <= _LONGEST_NUMBER:
        try:
            return f"#{Decimal(number).normalize()}"
        except ArithmeticError:
            pass
    return f"#{number}"

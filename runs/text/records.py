"""Dicts and JSON objects in a line: names and places of their numbers, in one linear scan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .numbers import NON_FINITE, parse_number
from .reading import Span

_TOKEN = rf"""
      (?P<string>STRING)
    | (?P<number>[+-]?(?:{NON_FINITE}|Infinity|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?))(?![\w.])
    | (?P<open>[{{\[(])
    | (?P<close>[}}\])])
    | (?P<mark>[:,=])
    | (?P<word>[^\s{{}}\[\]():,="']+)
    | (?P<stray>["'])
    """
_STRINGS = {'"': r'"(?:[^"\\]++|\\.)*+"', "'": r"'(?:[^'\\]++|\\.)*+'"}
_NUMERIC_STRING = re.compile(rf"[+-]?(?:{NON_FINITE}|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)")
_COUNT = re.compile(r"(?P<n>\d+)\s*/\s*\d+")
"""`"10/400"`, where a number is expected."""
_FIRST_KEY = re.compile(r"\{\s*[\"'\w]")
_STATISTICS = frozenset({"mean", "value", "avg", "val"})
MAX_DEPTH = 16
"""Nothing a training prints about itself is nested deeper."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value in a record: its path of keys, its place, and its number if it is one."""

    path: tuple[str, ...]
    span: Span
    value: float | None
    text: str = ""

    @property
    def name(self) -> str:
        """The path as one name; a trailing mean or value stands for its parent."""
        path = self.path
        if len(path) > 1 and path[-1] in _STATISTICS:
            path = path[:-1]
        return "/".join(path)


def find_record(text: str) -> Span | None:
    """The span of the outermost braces with at least one quoted or named key."""
    start = text.find("{")
    end = text.rfind("}")
    if start < 0 or end <= start or not _FIRST_KEY.match(text, start, start + 40):
        return None
    return start, end + 1


def scan_record(text: str, start: int, end: int) -> list[Leaf] | None:
    """Leaves of the record in `text[start:end]`, or None if it is not one."""
    scanner = _Scanner()
    for token in _tokens(text, start, end):
        if not scanner.take(token):
            return None
    return scanner.leaves


def _tokens(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """All tokens; once a quote is not closed, none like it behind it is, and none is tried."""
    quotes = "".join(_STRINGS)
    while True:
        for token in _token_pattern(quotes).finditer(text, start, end):
            if token.lastgroup == "stray" and token[0] in quotes:
                quotes, start = quotes.replace(token[0], ""), token.end()
                break
            if token.lastgroup != "stray":
                yield token
        else:
            return


@cache
def _token_pattern(quotes: str) -> re.Pattern[str]:
    """Tokens, with strings in these quotes alone."""
    strings = "|".join(_STRINGS[quote] for quote in quotes) or "(?!)"
    return re.compile(_TOKEN.replace("STRING", strings), re.VERBOSE)


class _Scanner:
    """Walks through the tokens of a record and keeps the leaves."""

    __slots__ = ("_calls", "_key", "_list_key", "_list_numbers", "_path", "_word", "leaves")

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self._path: list[str | None] = []
        """Keys of the open braces; None for a list and for the record itself."""
        self._key: str | None = None
        """The key whose value is awaited."""
        self._word: str | None = None
        """What will be a key if a colon follows, a value if not."""
        self._calls = 0
        """Open parentheses, as in `tensor(nan, device='cuda:0')`."""
        self._list_key: str | None = None
        """The key of the list that is being read."""
        self._list_numbers: list[re.Match[str]] = []

    def take(self, token: re.Match[str]) -> bool:
        """Go one token further; False if this cannot be a record."""
        kind = token.lastgroup
        if kind == "open":
            return self._open(token[0])
        if kind == "close":
            return self._close(token)
        if kind == "mark":
            self._pass_mark(token)
        elif kind in ("number", "string") and self._key is not None and not self._is_in_list():
            self._take_value(token, self._key)
        elif kind == "number" and self._list_key is not None:
            self._list_numbers.append(token)
        else:
            self._word = token[0][1:-1] if kind == "string" else token[0]
        return True

    def _open(self, bracket: str) -> bool:
        if bracket == "(":
            self._calls += 1
            self._word = None
            return True
        if len(self._path) > MAX_DEPTH:
            return False
        is_list_of_key = bracket == "[" and self._key is not None and not self._is_in_list()
        self._list_key, self._list_numbers = (self._key if is_list_of_key else None), []
        self._path.append(self._key if bracket == "{" else None)
        self._key = self._word = None
        return True

    def _close(self, token: re.Match[str]) -> bool:
        if token[0] == ")":
            self._calls = max(0, self._calls - 1)
            return True
        self._end_entry(token)
        if not self._path:
            return False
        self._path.pop()
        if token[0] == "]" and self._list_key == "step":
            # NVIDIA's DLLogger: `"step": [3, 1200]`, and `[3]` for what is told of a whole epoch.
            for number, key in zip(self._list_numbers, ("epoch", "step"), strict=False):
                self._take_value(number, key)
        elif token[0] == "]" and self._list_key is not None and len(self._list_numbers) == 1:
            # `"lr": [0.1]`: one parameter group.
            self._take_value(self._list_numbers[0], self._list_key)
        self._list_key = None
        return True

    def _pass_mark(self, token: re.Match[str]) -> None:
        if self._calls:
            return
        if token[0] == ",":
            self._end_entry(token)
        elif token[0] == ":" and self._word is not None:
            self._key, self._word = self._word, None

    def _end_entry(self, token: re.Match[str]) -> None:
        """Keep an entry whose value was a bare word, such as `None`."""
        if self._word is not None and self._key is not None and not self._is_in_list():
            self.leaves.append(Leaf(self._full_path(self._key), token.span(), None, self._word))
        self._key = self._word = None

    def _take_value(self, token: re.Match[str], key: str) -> None:
        text, (start, end) = token[0], token.span()
        if token.lastgroup == "string":
            text, start, end = text[1:-1], start + 1, end - 1
        is_number = token.lastgroup == "number" or _NUMERIC_STRING.fullmatch(text)
        if not is_number and (count := _COUNT.fullmatch(text)):
            text, is_number = count["n"], True
            end = start + len(text)
        value = parse_number(text) if is_number else None
        self.leaves.append(Leaf(self._full_path(key), (start, end), value, text))
        self._key = self._word = None

    def _is_in_list(self) -> bool:
        """Lists are not series of this record: what is inside them is skipped."""
        return None in self._path[1:]

    def _full_path(self, key: str) -> tuple[str, ...]:
        return (*(part for part in self._path if part is not None), key)

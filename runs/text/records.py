"""Dicts and JSON objects in a line: names and places of their numbers, in one linear scan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .numbers import NON_FINITE, parse_number

_TOKEN = re.compile(
    rf"""
      (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>[+-]?(?:{NON_FINITE}|Infinity|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?))(?![\w.])
    | (?P<open>[{{\[(])
    | (?P<close>[}}\])])
    | (?P<mark>[:,=])
    | (?P<word>[^\s{{}}\[\]():,="']+)
    """,
    re.VERBOSE,
)
_NUMERIC_TEXT = re.compile(rf"[+-]?(?:{NON_FINITE}|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)")
_STATISTICS = frozenset({"mean", "value", "avg", "val"})
MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value in a record: its path of keys, its place, and its number if it is one."""

    path: tuple[str, ...]
    span: tuple[int, int]
    value: float | None
    text: str = ""

    @property
    def name(self) -> str:
        """The path as one name; a trailing mean or value stands for its parent."""
        path = self.path
        if len(path) > 1 and path[-1] in _STATISTICS:
            path = path[:-1]
        return "/".join(path)


def find_record(text: str) -> tuple[int, int] | None:
    """The span of the outermost braces with at least one quoted or named key."""
    start = text.find("{")
    end = text.rfind("}")
    if start < 0 or end <= start or not re.match(r"\{\s*[\"'\w]", text[start : start + 40]):
        return None
    return start, end + 1


def scan_record(text: str, start: int, end: int) -> list[Leaf] | None:
    """Leaves of the record in `text[start:end]`, or None if it is not one."""
    leaves: list[Leaf] = []
    try:
        leaves.extend(_scan(text, start, end))
    except _NotARecordError:
        return None
    return leaves


class _NotARecordError(Exception):
    pass


def _scan(text: str, start: int, end: int) -> Iterator[Leaf]:
    path: list[str | None] = []
    key: str | None = None
    pending: str | None = None
    wrapper = 0
    for token in _TOKEN.finditer(text, start, end):
        kind, content = token.lastgroup, token[0]
        if kind == "open":
            if content == "(":
                wrapper += 1
                pending = None
                continue
            if len(path) > MAX_DEPTH:
                raise _NotARecordError
            # Lists are not series of this record: what is inside them is skipped.
            path.append(key if content == "{" else None)
            key = pending = None
        elif kind == "close":
            if content == ")":
                wrapper = max(0, wrapper - 1)
                continue
            if pending is not None and key is not None and None not in path[1:]:
                yield Leaf(_named(path, key), token.span(), None, pending)
            if not path:
                raise _NotARecordError
            path.pop()
            key = pending = None
        elif kind == "mark":
            if content == ":" and pending is not None and not wrapper:
                key, pending = pending, None
            elif content == "," and not wrapper:
                if pending is not None and key is not None and None not in path[1:]:
                    yield Leaf(_named(path, key), token.span(), None, pending)
                key = pending = None
        elif key is not None and None not in path[1:] and kind in ("number", "string"):
            span = token.span(kind)
            value = content
            if kind == "string":
                span, value = (span[0] + 1, span[1] - 1), content[1:-1]
            number = (
                parse_number(value) if kind == "number" or _NUMERIC_TEXT.fullmatch(value) else None
            )
            yield Leaf(_named(path, key), span, number, value)
            key = pending = None
        elif kind == "string":
            pending = content[1:-1]
        else:
            pending = content


def _named(path: list[str | None], key: str) -> tuple[str, ...]:
    return (*(part for part in path if part is not None), key)

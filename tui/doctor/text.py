"""The answer as text: grouped by area, a glyph and a word for each line, never wider than asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from unicodedata import combining, east_asian_width

from ..escaping import printable
from ..wording import count
from .line import Line, State

LEAST_WIDTH = 40
WIDTH = 80
MOST_WIDTH = 100
"""Longer lines are hard to read."""
_GLYPHS = {State.OK: "✔", State.WARNING: "▲", State.PROBLEM: "✖"}
_ASCII = {State.OK: "+", State.WARNING: "!", State.PROBLEM: "x"}
_COLOURS = {State.OK: "32", State.WARNING: "33", State.PROBLEM: "1;31"}
_WORDS = re.compile(r"(?:`[^`]*`|\S)+")
_WORD = max(len(state) for state in State)
_INDENT = 2 + 1 + 1 + _WORD + 2
"""Cells before a fact: two spaces, the glyph, a space, the word, two spaces."""


def render(
    lines: Sequence[Line], *, columns: int = WIDTH, unicode: bool = True, colours: bool = False
) -> Iterator[str]:
    """Lines of text, with a summary as the last one."""
    width = min(max(columns, LEAST_WIDTH), MOST_WIDTH)
    for area, group in groupby(lines, key=lambda line: line.area):
        yield f"\x1b[1m{area}\x1b[0m" if colours else area
        for line in group:
            yield from _rendered(line, width, unicode=unicode, colours=colours)
        yield ""
    yield from wrapped(summary(lines), width)


def summary(lines: Sequence[Line]) -> str:
    """One sentence about all of it."""
    numbers = Counter(line.state for line in lines)
    problems, warnings = numbers[State.PROBLEM], numbers[State.WARNING]
    if not problems and not warnings:
        return f"All is well: {numbers[State.OK]} ok."
    told = [
        count(problems, "problem") if problems else "No problem",
        count(warnings, "warning") if warnings else "no warning",
        f"{numbers[State.OK]} ok",
    ]
    return ", ".join(told) + "."


def wrapped(text: str, width: int) -> Iterator[str]:
    """Text in lines of so many cells; only a word that is longer than a line is cut."""
    line = ""
    for word in _words(text, width):
        while cells(word) > width:
            room = width - (cells(line) + 1 if line else 0)
            if room < width // 2:
                yield line
                line, room = "", width
            head = _beginning(word, room)
            yield f"{line} {head}" if line else head
            line, word = "", word[len(head) :]
        if line and cells(line) + 1 + cells(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    if line:
        yield line


def _words(text: str, width: int) -> Iterator[str]:
    """What stays together: words, and commands in back quotes as long as a line holds them."""
    for found in _WORDS.findall(text):
        yield from [found] if cells(found) <= width else found.split()


def cells(text: str) -> int:
    """How wide a text is; wide characters take two cells, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _rendered(line: Line, width: int, *, unicode: bool, colours: bool) -> Iterator[str]:
    glyph = (_GLYPHS if unicode else _ASCII)[line.state]
    mark = f"{glyph} {line.state}".ljust(_WORD + 2)
    if colours:
        mark = f"\x1b[{_COLOURS[line.state]}m{mark}\x1b[0m"
    room = width - _INDENT
    margin = " " * _INDENT
    facts = list(wrapped(_safe(line.fact, unicode=unicode), room)) or [""]
    yield f"  {mark}  {facts[0]}".rstrip()
    for more in facts[1:]:
        yield margin + more
    arrow = "→" if unicode else "->"
    advice = wrapped(_safe(line.advice, unicode=unicode), room - len(arrow) - 1)
    for number, part in enumerate(advice):
        yield f"{margin}{arrow if number == 0 else ' ' * len(arrow)} {part}"


def _safe(text: str, *, unicode: bool) -> str:
    text = printable(text)
    return text if unicode else text.encode("ascii", "replace").decode()


def _beginning(word: str, width: int) -> str:
    """As much of a word as fits, but something."""
    length = 1
    while length < len(word) and cells(word[: length + 1]) <= width:
        length += 1
    return word[:length]

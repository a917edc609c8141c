"""The source of a program that prints itself into its log, as modded-nanogpt does.

    import os
    with open(sys.argv[0]) as f:
        code = f.read()
    ==========================
    step:1/600 train_loss:4.72

Its lines hold names and numbers, and none of them was measured.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPENS = re.compile(
    r"(?:import [\w.]+(?: as \w+)?(?:, ?[\w.]+)*|from [\w.]+ import [\w*(, ]+)\s*(?:#.*)?"
)
_STATEMENT = re.compile(
    r"""
      \s                                                          # a block, or a blank line
    | (?:import|from|def|class|async|if|elif|for|while|with|except|return|raise|assert|del|global|
        yield|lambda|match|case)\b
    | (?:else|try|finally)\s*: | (?:pass|break|continue)\b
    | @\w | \#(?!\d) | [\])}] | [rbfu]{0,2}(?:\"\"\"|''')
    | print\(
    | [A-Za-z_][\w.]*(?:\[[^\]]*\])?(?:,\s*[A-Za-z_][\w.]*)*\s*(?::\s*[\w.\[\], |]+)?
        \s*(?:[-+*/|&@%]|//|\*\*|>>|<<)?=(?!=)                     # an assignment
    | [A-Za-z_][\w.]*(?:\[[^\]]*\])?\(                             # a call
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SAME = 4
"""Lines at the margin that differ by their numbers alone: printed, and not written so."""
_QUOTES = re.compile(r"\"\"\"|'''")
_LEAST_LINES = 6
_LEAST_BLOCKS = 2
"""Indented lines: settings may be assigned below an import, but have no blocks."""
_MOST_LINES = 20_000


def may_open_source(text: str) -> bool:
    """Whether the source of a program may begin with a line of this shape."""
    return _OPENS.fullmatch(text) is not None


def source_end(lines: Sequence[str], index: int, *, final: bool) -> int | None:
    """The first line behind source code that begins at a line; None if none begins there.

    `index` itself if it may go on behind the lines that are there so far.
    """
    quote = ""
    blocks = 0
    end = index
    shapes: dict[str, list[tuple[int, int]]] = {}
    """By the words of lines at the margin, where they are and how many blocks are before them."""
    limit = min(len(lines), index + _MOST_LINES)
    while end < limit:
        line = lines[end]
        if not quote:
            if line and not _STATEMENT.match(line):
                break
            if line[:1].isalpha() and _NUMBER.search(line):
                same = shapes.setdefault(_NUMBER.sub("0", line), [])
                same.append((end, blocks))
                if len(same) == _SAME:
                    end, blocks = same[0]
                    break
            blocks += line[:1].isspace() and not line.isspace()
        quote = _quote_behind(line, quote)
        end += 1
    is_open = end == len(lines) and end < index + _MOST_LINES
    if is_open and not final:
        return index
    return end if end - index >= _LEAST_LINES and blocks >= _LEAST_BLOCKS else None


def _quote_behind(line: str, quote: str) -> str:
    """The triple quotes that are open behind a line."""
    for found in _QUOTES.finditer(line):
        if not quote:
            quote = found[0]
        elif quote == found[0]:
            quote = ""
    return quote

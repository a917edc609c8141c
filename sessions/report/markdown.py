"""GitHub-flavoured Markdown in which outside text can be nothing but text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

_SPECIAL = re.compile(r"[\\`*\[\]<|~$]")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=#?\w{1,40};)")
_LEADING = re.compile(r"^(?:([#=>]|-(?=[\s-]|$)|\+(?=\s|$))|(\d{1,9})([.)])(?=\s|$))")
"""What would begin a heading, a quotation or a list."""
_TICKS = re.compile(r"`+")
_WIDEST_PADDED = 118
"""Tables that fit a terminal are padded, so that they can be read there as they are."""


def escaped(text: str) -> str:
    """One line of text that is no markup wherever it is put; it must not contain newlines."""
    text = _ENTITY.sub("&amp;", _SPECIAL.sub(r"\\\g<0>", text.strip()))
    text = _UNDERSCORE.sub(r"\\_", text)
    return _LEADING.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", text)


def code(text: str) -> str:
    """One line as a code span that it cannot end; not for tables."""
    text = text.strip()
    if not text:
        return ""
    ticks = "`" * (_longest_ticks(text) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def code_cell(text: str) -> str:
    """The same for a cell of a table.

    A bar ends a cell even inside a code span, and parsers disagree about backslashes before
    it: such a text is escaped instead.
    """
    return escaped(text) if "|" in text else code(text)


def fence(text: str, language: str = "text") -> str:
    """Lines in a fence that is longer than any run of backticks inside."""
    ticks = "`" * max(3, _longest_ticks(text) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """A table of cells that are Markdown already; `align` has one of `<` and `>` per column."""
    cells = [[cell or " " for cell in row] for row in rows]
    sides = align.ljust(len(headers), "<")
    widths = [
        max(3, *(len(row[n]) for row in chain([headers], cells))) for n in range(len(headers))
    ]
    if sum(widths) + 3 * len(widths) > _WIDEST_PADDED:
        widths = [3] * len(headers)
    rule = [
        "-" * (width - 1) + ":" if side == ">" else "-" * width
        for width, side in zip(widths, sides, strict=True)
    ]
    lines = [_row(headers, widths, sides), _row(rule, widths, sides)]
    return "\n".join([*lines, *(_row(row, widths, sides) for row in cells)])


def _row(cells: Sequence[str], widths: Sequence[int], sides: str) -> str:
    padded = (f"{c:{side}{w}}" for c, w, side in zip(cells, widths, sides, strict=True))
    return f"| {' | '.join(padded)} |"


def bullets(items: Iterable[str]) -> str:
    """A list of lines that are Markdown already."""
    return "\n".join(f"- {item}" for item in items)


def document(blocks: Iterable[str]) -> str:
    """Blocks with an empty line between them."""
    return "\n\n".join(block for block in blocks if block) + "\n"

"""Plain text out of whatever somebody wrote: no control characters, no endless lines."""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[ -/]*[0-~]?)"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_BLANK_LINES = re.compile(r"\n{3,}")
_LOOKED_AT = 4
"""Times the wanted length; what is beyond it is not even cleaned."""


def one_line(text: str, most: int) -> str:
    """The text as one line, cut where it gets too long."""
    return clipped(" ".join(_plain(text[: _LOOKED_AT * most]).split()), most)


def some_lines(text: str, most: int) -> str:
    """The text with its lines, cut where it gets too long."""
    plain = _plain(text[: _LOOKED_AT * most])
    lines = "\n".join(line.rstrip() for line in plain.split("\n"))
    return clipped(_BLANK_LINES.sub("\n\n", lines).strip("\n"), most)


def clipped(text: str, most: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _plain(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(map(_character, text))


def _character(one: str) -> str:
    if one.isprintable() or one == "\n":
        return one
    kind = unicodedata.category(one)
    if one.isspace():
        return "    " if one == "\t" else "\n" if one in "\u2028\u2029\x85" else " "
    # Marks that turn the direction of writing make a text read otherwise than it is written.
    return "\ufffd" if kind in ("Cs", "Co", "Cn") else ""

"""Outside text with everything taken out that a screen or a reader's eye could trip over."""

from __future__ import annotations

import re
import unicodedata

from mltd.runs.name_text import escape_undecodable

_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|[\x1b\x9d]\]?[^\x07\x1b\x9c]{0,2000}?(?:\x07|\x1b\\|\x9c)"  # titles and links
    r"|\x1b[@-Z\\-_ -/]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_JOINERS = "\u200c\u200d"
"""Invisible, but words and emoji are spelt with them."""
DOT = "·"


def neutral(text: str) -> str:
    """The text without escape codes, invisible marks and changes of direction; lines stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _ANSI.sub("", escape_undecodable(text)).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(map(_character, text))


def _character(one: str) -> str:
    if one.isprintable() or one == "\n" or one in _JOINERS:
        return one
    kind = unicodedata.category(one)
    if kind == "Cf":
        # Bidirectional overrides make a text read otherwise than it is written.
        return ""
    if one.isspace():
        return "    " if one == "\t" else " "
    return DOT


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def clipped(text: str, most: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= most else text[: max(1, most - 1)].rstrip() + "…"


def shortened(text: str, most: int, length: int = 0) -> str:
    """The beginning of a text that is too long, and how much of its `length` is missing."""
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()}… [{(length or len(text)) - most:,} characters left out]"


def cut_at_word(text: str, most: int) -> str:
    """The beginning of a text that is too long, up to the end of a word if there is one."""
    if len(text) <= most:
        return text
    words = text[:most].rpartition(" ")[0]
    # "... at" or "... (a" would wait for what comes next.
    words = re.sub(r"(?:\s+\(?\w{1,2})?[\s,;:(]*$", "", words)
    return f"{words}…" if len(words) > most // 2 else clipped(text, most)


def middle_cut(lines: list[str], most: int) -> list[str]:
    """The first and the last of too many lines, with a note about those between."""
    if len(lines) <= most:
        return lines
    head = most // 2
    tail = most - head - 1
    left_out = len(lines) - head - tail
    return [*lines[:head], f"[... {left_out:,} lines left out ...]", *lines[-tail:]]

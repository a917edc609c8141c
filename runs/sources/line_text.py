"""What a line of a log says: its bytes as text that is safe to show, with its colours beside it.

Only light modules are imported: the process that searches must start at once.
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from typing import NamedTuple

ESCAPE_MARK = "␛"
"""Stands for an escape sequence that is not obeyed."""
UNKNOWN_MARK = "·"
"""Stands for what has no shape of its own: direction marks, joiners, private characters."""
MOST_COMBINED = 2
"""Marks that may sit on one letter; more would pile up over the neighbouring lines."""

_BYTE_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|.?)", re.DOTALL)
_ESCAPES = re.compile(
    r"""
    \x1b(?:
        \[ (?P<colour> [\d;:]*) m
      | \[ [0-?]* [ -/]* [@-~]                     # cursor movements and the like
      | \] [^\x07\x1b]* (?: \x07 | \x1b\\ )?       # window titles, links, the clipboard
      | [PX^_] [^\x1b]* (?: \x1b\\ )?              # device control strings
      | [ -/]* [0-~]                               # all other commands
      |                                            # cut off
    )
    """,
    re.VERBOSE,
)


class ShownText(NamedTuple):
    """Printable text (and tabs), and where its colours change."""

    text: str
    colours: tuple[tuple[int, str], ...] = ()
    """Position in the text, and the numbers of a select-graphics sequence (`1;31`)."""


def shown_text(data: bytes) -> ShownText:
    """The bytes of one line as text in which nothing can act on a terminal."""
    text = decode(last_state(data))
    if text.isascii() and text.isprintable():
        return ShownText(text)
    text = text.removeprefix("\ufeff")
    if "\x1b" not in text:
        return ShownText(_safe(text))
    pieces: list[str] = []
    colours: list[tuple[int, str]] = []
    length = end = 0
    for escape in _ESCAPES.finditer(text):
        before = _safe(text[end : escape.start()])
        end = escape.end()
        numbers = escape["colour"]
        pieces += (before, "" if numbers is not None else ESCAPE_MARK)
        length += len(before) + len(pieces[-1])
        if numbers is not None:
            colours.append((length, numbers))
    pieces.append(_safe(text[end:]))
    return ShownText("".join(pieces), tuple(colours))


def last_state(data: bytes) -> bytes:
    """What a progress bar that redraws its line showed last; other lines as they are."""
    if b"\r" not in data:
        return data
    end = len(data)
    while end >= 0:
        start = data.rfind(b"\r", 0, end) + 1
        state = data[start:end]
        if _BYTE_ESCAPES.sub(b"", state).strip():
            return state
        end = start - 1
    return b""


def decode(data: bytes) -> str:
    """Text of a line: UTF-8, also if it is cut off, else GB18030, else what survives."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start >= len(data) - 3:
            return data[: error.start].decode()
    with suppress(UnicodeDecodeError):
        return data.decode("gb18030")
    return data.decode(errors="replace")


class _SafeCharacters(dict[int, int | str | None]):
    """What every character becomes; filled as characters are met."""

    def __missing__(self, code: int) -> int | str | None:
        shown = self[code] = _safe_character(code)
        return shown


def _safe_character(code: int) -> int | str | None:
    character = chr(code)
    if code < 32 or code == 127:
        return code if code == 9 else chr(0x2421 if code == 127 else 0x2400 + code)
    if 0x80 <= code < 0xA0:
        return ESCAPE_MARK
    if unicodedata.category(character) == "Zs":
        return "  " if code == 0x3000 else " "
    # These change the width of the character before them, on some terminals.
    if 0xFE00 <= code < 0xFE10 or 0xE0100 <= code < 0xE01F0:
        return None
    return code if character.isprintable() else UNKNOWN_MARK


_SAFE = _SafeCharacters()


def _safe(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    text = text.translate(_SAFE)
    return text if text.isascii() else _without_piles(text)


def _is_combined(character: str) -> bool:
    """True if a character has no cell of its own."""
    code = ord(character)
    is_jamo = 0x1160 <= code < 0x1200 or 0xD7B0 <= code < 0xD800
    return is_jamo or unicodedata.category(character) in ("Mn", "Me")


def _without_piles(text: str) -> str:
    combined = {character for character in set(text) if _is_combined(character)}
    if not combined:
        return text
    kept: list[str] = []
    marks = MOST_COMBINED
    for character in text:
        if character not in combined:
            marks = 0
        elif not kept:
            # There is nothing it could sit on but what somebody else has drawn.
            character = UNKNOWN_MARK
        elif (marks := marks + 1) > MOST_COMBINED:
            continue
        kept.append(character)
    return "".join(kept)

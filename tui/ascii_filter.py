"""For terminals without Unicode: every glyph becomes ASCII on its way out.

An app installs it by overriding `get_line_filters`, which every widget asks when it is drawn, so
that toasts, footer and command palette are included:

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._ascii_filter]
"""
# ruff: noqa: RUF001 - look-alikes are what this file is about

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

_PLAIN = {
    "→⟶➜➔▶►▸▷❯›»⏵": ">",
    "←⟵◀◄◂◁❮‹«⏴": "<",
    "↑▲△▴⬆⏶↥": "^",
    "↓▼▽▾⬇⏷↧": "v",
    "•·∙⋅‧": ".",
    "●◉⬤◆■▪★✱✳⁎∗": "*",
    "○◦◌◯◇□▫☐": "o",
    "✖✗✘×╳❌☒": "x",
    "✔✓☑": "+",
    "–—‐‑‒―−⁻╌╍┄┅┈┉▱": "-",
    "…": ".",
    "‘’‚‛′": "'",
    "“”„‟″": '"',
    "≈∼～◐": "~",
    "≤": "<",
    "≥": ">",
    "≠": "!",
    "±": "+",
    "÷": "/",
    "µμ": "u",
    "∞": "I",
    "°": "o",
    "⏎↵": "<",
    "⌫": "<",
    "║┃│╎╏┆┇┊┋❘": "|",
    "░": ".",
    "▒": ":",
    "▓": "%",
    "█▉▊▋▌▐▰": "#",
    "▍▎▏▕": "|",
    "▁▂": "_",
    "▃▄": "-",
    "▅▆": "=",
    "▇": "#",
    "▀▔": '"',
    "═━‖": "=",
    "─╴╶╸╺╼╾": "-",
    "╵╷╹╻╽╿": "|",
    "╱": "/",
    "╲": "\\",
}
_TABLE = {glyph: plain for glyphs, plain in _PLAIN.items() for glyph in glyphs}
_KEYS = {
    "↑": "up", "↓": "down", "←": "left", "→": "right", "⏎": "enter", "⌫": "backspace"
}  # fmt: skip
"""Keys by the glyphs that Textual writes them with: one ASCII character would be another key."""
_GLYPHS = re.compile(r"[^\x00-\x7f]+")
_BRAILLE = range(0x2800, 0x2900)
_BOXES = range(0x2500, 0x2580)
_DOT_ROWS = (0x09, 0x12, 0x24, 0xC0)
"""The dots of a braille pattern, by row from the top."""
_BLOCKS = range(0x2580, 0x25A0)


class AsciiFilter(LineFilter):
    """Writes ASCII alone, in the same cells and styles."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in ASCII; control codes are left alone."""
        return [
            segment
            if segment.control or segment.text.isascii()
            else Segment(to_ascii(segment.text), segment.style)
            for segment in segments
        ]


def key_in_ascii(sign: str) -> str:
    """A key as the footer and the help write it, in ASCII, and unlike that of any other key."""
    return _GLYPHS.sub(
        lambda run: "/".join(_KEYS.get(glyph, f"U+{ord(glyph):04X}") for glyph in run[0]), sign
    )


def key_sign(app: App[Any], sign: str) -> str:
    """A key as this app writes it."""
    return key_in_ascii(sign) if app.has_class("ascii") else sign


@lru_cache(maxsize=4096)
def to_ascii(text: str) -> str:
    """ASCII of the same width; a wide character takes two cells, a combining one none."""
    plain = "".join(map(_plain, text))
    # Clusters such as a flag or a family are narrower than the sum of their parts.
    width = cell_len(text)
    return plain if len(plain) == width else plain[:width].ljust(width)


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    width = cell_len(character)
    if character.isascii() or width == 0:
        return character[:width]
    base = _TABLE.get(character) or _letter(character) or _drawn(ord(character))
    return base if width == 1 else base.ljust(width, "?" if base == "?" else " ")


def _letter(character: str) -> str:
    """A letter without its accents, a full-width digit as a digit; empty if it has no such form."""
    first = unicodedata.normalize("NFKD", character)[:1]
    return first if first.isascii() and first.isprintable() else ""


def _drawn(code: int) -> str:
    if code in _BRAILLE:
        return _dots(code - _BRAILLE.start)
    if code in _BOXES:
        return "+"
    return "#" if code in _BLOCKS else "?"


def _dots(pattern: int) -> str:
    """A stroke about as high as the dots are."""
    counts = [(pattern & row).bit_count() for row in _DOT_ROWS]
    dots = sum(counts)
    if dots == 0:
        return " "
    if dots > 3:
        return "*" if dots < 7 else "#"
    height = sum(row * count for row, count in enumerate(counts)) / dots
    return "'" if height < 1 else "-" if height < 2 else "."

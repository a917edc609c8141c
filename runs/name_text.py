"""Names of files as text: they may hold any byte but two, and nothing in them is to be obeyed.

Python decodes a byte that is no UTF-8 as a lone surrogate, which no file, pipe or JSON document
takes. Tiny, because everything that writes a name goes through here.
"""

from __future__ import annotations

import os
import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:x|udc)([89a-f][0-9a-f])")
r"""How a byte is written; `\udcNN` is how older sessions have it."""
_BYTES = range(0xDC80, 0xDD00)
"""The surrogates that stand for the bytes 0x80 to 0xff."""


def escape_undecodable(text: str) -> str:
    r"""The text with each byte that is no text as `\xNN`; all else stays."""
    return text if text.isascii() else _SURROGATE.sub(_escaped, text)


def path_of(name: str) -> str:
    """The path that `escape_undecodable` made a name of; a file that is called so comes first."""
    if "\\" not in name or os.path.lexists(name):
        return name
    path = _ESCAPE.sub(lambda found: chr(0xDC00 + int(found[1], 16)), name)
    return path if os.path.lexists(path) else name


def escape_unprintable(text: str) -> str:
    r"""The text with what a terminal could act on, too, as `\xNN` or `\n`."""
    if text.isprintable():
        return text
    text = escape_undecodable(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code & 0xFF:02x}" if code in _BYTES else f"\\u{code:04x}"

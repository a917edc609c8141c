"""Names as words for a POSIX shell, whatever bytes they hold."""

from __future__ import annotations

import re

_PLAIN = re.compile(rb"[A-Za-z0-9_/.,:@%+-]+\Z")
"""What no shell looks at twice. (A leading dash is the business of the command, quoted or not.)"""


def sh_quote(path: bytes) -> bytes:
    """The bytes as one word of `sh`; they may be anything but NUL, which no word can hold."""
    if b"\0" in path:
        raise ValueError("a word of sh cannot hold NUL")
    if _PLAIN.match(path):
        return path
    # Inside single quotes nothing has a meaning but the quote itself.
    return b"'" + path.replace(b"'", b"'\\''") + b"'"

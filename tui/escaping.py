"""Outside text made safe for a terminal."""

from __future__ import annotations

from mltd.runs.name_text import escape_undecodable
from mltd.runs.remote.names import shown


def printable(text: str) -> str:
    """Outside text with everything a terminal could act on taken out."""
    text = escape_undecodable(shown(text))
    return "".join(c if c.isprintable() else " " if c.isspace() else "·" for c in text)

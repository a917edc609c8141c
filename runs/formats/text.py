"""Any text log: what no other format claims goes through the learned templates."""

from __future__ import annotations

from .. import settings
from ..text.extractor import TextReader
from .format import Reader

_TEXT_CONTROLS = frozenset(b"\t\n\r\x08\x0b\x0c\x1b\x00")
_TOLERATED = 0.05
"""Share of control bytes in the head of a file that is still taken for text."""


def looks_like_text(head: bytes) -> bool:
    """False for images, archives and other binary data; true for torn or odd text."""
    if not head:
        return True
    controls = sum(head.count(code) for code in range(32) if code not in _TEXT_CONTROLS)
    return controls + 0.5 * head.count(0) <= _TOLERATED * len(head) + 1


class TextFormat:
    """Lines of text of any shape."""

    name = "text"
    is_snapshot = False

    def sniff(self, head: bytes, path: str) -> float:
        """A little sure of anything that is text."""
        return 0.05 if looks_like_text(head) else 0.0

    def open(self, path: str) -> Reader:
        """A reader with the user's own patterns and roles."""
        chosen = settings.current()
        return TextReader(chosen.roles, chosen.patterns)

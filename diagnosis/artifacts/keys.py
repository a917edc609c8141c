"""Private keys in a text: which lines are inside one, though they do not say so themselves."""

from __future__ import annotations

import re

_MARKER = re.compile(rb"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_HINT = b"PRIVATE KEY"
_MOST_LINES = 2000
"""A key that does not end within so many lines was never one."""


class KeyWatch:
    """Sees the lines of a text in their order."""

    def __init__(self) -> None:
        self._since = 0
        """Lines seen since a key began; 0 outside of one."""

    def see(self, line: bytes) -> bool:
        """True if the next line belongs to a key."""
        marker = _last_marker(line) if _HINT in line else None
        is_inside = bool(self._since) or marker is not None
        if marker is not None:
            self._since = marker == b"BEGIN"
        elif self._since:
            self._since = 0 if self._since > _MOST_LINES else self._since + 1
        return is_inside

    def skip(self, lines: bytes) -> None:
        """Pass over some whole lines."""
        at = lines.rfind(_HINT)
        if at < 0:
            if self._since:
                self._since += lines.count(b"\n")
                self._since = 0 if self._since > _MOST_LINES else self._since
            return
        start = lines.rfind(b"\n", 0, at) + 1
        marker = _last_marker(lines[start:])
        if marker is not None:
            self._since = (marker == b"BEGIN") and 1 + lines.count(b"\n", at)


def _last_marker(data: bytes) -> bytes | None:
    return next((found[1] for found in reversed(list(_MARKER.finditer(data)))), None)

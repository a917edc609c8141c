"""JSON lines: one object a line, whatever the file is called.

Read by the same engine as text, which knows objects in lines and reads those of one shape at
C speed; lines between them that are no JSON are read as text.
"""

from __future__ import annotations

import json

from .text import TextFormat

_ENOUGH = 0.6
"""Share of lines that must be objects."""


class JsonLinesFormat(TextFormat):
    """One JSON object a line."""

    name = "jsonl"

    def sniff(self, head: bytes, path: str) -> float:
        """Sure if most of the complete lines are objects."""
        lines = [line for line in head.split(b"\n")[:200] if line.strip()]
        complete = lines if head.endswith(b"\n") else lines[:-1] or lines
        if not complete or not complete[0].lstrip().startswith(b"{"):
            return 0.0
        objects = sum(_is_object(line) for line in complete[:50])
        return 0.6 if objects >= _ENOUGH * min(50, len(complete)) else 0.0


def _is_object(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False

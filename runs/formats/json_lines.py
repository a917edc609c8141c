"""JSON lines: one object a line, whatever the file is called.

Read by the same engine as text, which knows objects in lines and reads those of one shape at
C speed; lines between them that are no JSON are read as text.
"""

from __future__ import annotations

import json

from ..roles import shipped
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
        looked_at = complete[:50]
        objects = [found for line in looked_at if (found := _object(line)) is not None]
        if len(objects) < _ENOUGH * len(looked_at):
            return 0.0
        # A configuration is one object too, but it measures nothing at any step.
        return 0.6 if len(objects) > 1 or _is_record(objects[0]) else 0.0


def _object(line: bytes) -> dict[str, object] | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_record(fields: dict[str, object]) -> bool:
    roles = shipped()
    return any(roles.axis_of(name) for name in fields) and any(map(roles.is_outcome, fields))

"""What stands in the pane while there is no session."""

from __future__ import annotations

from ..findings.spans import BLANK, Line, Span, hang, wrap

_WHAT = (
    "A session keeps the triage honest: what we believe and how sure we are, what we try, "
    "what came out, and what is still missing. It begins by itself once the run is read, and is "
    "saved when you first change something."
)
_KEYS = (
    ("h", "on a finding or a cause keeps it here as a hypothesis"),
    ("a", "writes a hypothesis of your own down"),
    ("n", "writes a note"),
)


def welcome(width: int) -> list[Line]:
    """What this pane is for, and the first three keys."""
    lines: list[Line] = [(Span("No session yet", "heading"),)]
    lines += [(Span(part),) for part in wrap(_WHAT, min(width, 76))]
    lines.append(BLANK)
    for key, does in _KEYS:
        lines += hang((Span(f"  {key}  ", "key"),), does, min(width, 76), "quiet")
    return lines

"""States as a glyph, a word and a meaning: never by one of them alone."""

from __future__ import annotations

from typing import NamedTuple

OPEN, DOING, DONE, CROSSED = "☐", "◐", "☑", "☒"
NEXT = "▸ next"


class Mark(NamedTuple):
    """How a state is shown; `meaning` is a name of the palette."""

    glyph: str
    word: str
    meaning: str
    is_over: bool = False
    """True if nothing more is to be done: the text beside it steps back."""


CHECKS = {
    "open": Mark(OPEN, "open", "quiet"),
    "in_progress": Mark(DOING, "in progress", "severity-info"),
    "done": Mark(DONE, "done", "severity-fine", is_over=True),
    "waived": Mark(CROSSED, "waived", "quiet", is_over=True),
}
HYPOTHESES = {
    "open": Mark(OPEN, "open", "quiet"),
    "testing": Mark(DOING, "testing", "severity-info"),
    "confirmed": Mark(DONE, "confirmed", "severity-fine"),
    "refuted": Mark(CROSSED, "refuted", "severity-critical", is_over=True),
    "parked": Mark(OPEN, "parked", "quiet", is_over=True),
}
EXPERIMENTS = {
    "planned": Mark(OPEN, "planned", "quiet"),
    "running": Mark(DOING, "running", "severity-info"),
    "passed": Mark(DONE, "passed", "severity-fine"),
    "failed": Mark(CROSSED, "failed", "severity-critical"),
    "inconclusive": Mark(DOING, "inconclusive", "severity-warning"),
    "cancelled": Mark(CROSSED, "cancelled", "quiet", is_over=True),
}

"""What a rule is, and what collecting an event from lines gives back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from ..event import Event, EventKind

TITLE_LENGTH = 200
"""Characters: one line on a wide terminal; the whole text is in the event."""

FAILURES = frozenset(
    {
        EventKind.EXCEPTION,
        EventKind.OOM,
        EventKind.NCCL,
        EventKind.SIGNAL,
        EventKind.SCHEDULER,
    }
)
"""Kinds that end a run unless it goes on logging afterwards."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, on its first use: a log needs few of them, and all take 50 ms."""
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class EventRule:
    """One entry of `rules.toml`: which lines it takes and what they mean."""

    id: str
    kind: EventKind
    needles: tuple[str, ...]
    """Lower-case texts of which one must be in the line: the cheap first test."""
    pattern: str = ""
    unless: str = ""
    title: str = "{tail}"
    collector: str = "line"
    is_terminal: bool = False
    """The run cannot go on after this, unless it is seen to go on."""
    is_guarded: bool = True
    """Lines that look like source code are not taken."""
    examples: tuple[str, ...] = field(default=(), repr=False)
    quiet: tuple[str, ...] = field(default=(), repr=False)

    def find(self, text: str) -> re.Match[str] | None:
        """The match of this rule in a line that holds one of its needles."""
        found = _compiled(self.pattern).search(text)
        if found is None or (self.unless and _compiled(self.unless).search(text)):
            return None
        return found


@dataclass(frozen=True, slots=True)
class Collected:
    """Events taken from lines, and the index of the first line that was not used."""

    events: tuple[Event, ...]
    """Usually one; none if a closer look showed nothing, several if ranks interleave."""
    next_index: int


_SPACES = re.compile(r"\s+")


def shorten(text: str, length: int = TITLE_LENGTH) -> str:
    """Fold white space and cut a text to one line of a title."""
    folded = _SPACES.sub(" ", text[: length * 4]).strip()
    return folded if len(folded) <= length else folded[: length - 1].rstrip() + "…"

"""One path under watch: how it is watched, when to look at it next, what was seen last."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .looks import Look

FASTEST_SECONDS = 0.25
SLOWEST_SECONDS = 2.0
SAFETY_SECONDS = 5.0
"""How often a path is looked at although inotify is trusted with it."""
GRACE_SECONDS = 1.0
"""How long an event may be under way before its change counts as missed."""


def _same_content(one: Look | None, other: Look | None) -> bool:
    # A new hard link changes the change time, and inotify says nothing about that.
    return (one and one._replace(changed_ns=0)) == (other and other._replace(changed_ns=0))


@dataclass(slots=True)
class WatchedPath:
    """Polled if `interval` is set, else left to inotify with a slow look beside it."""

    path: Path
    is_remote: bool = False
    """True where only opening the file gets past the client's cache."""
    names: frozenset[str] = frozenset()
    """Resolved names; an event about any of them is about this path."""
    interval: float | None = None
    is_fixed: bool = False
    """True if the user has set the interval."""
    note: str = ""
    """Why it is polled."""
    awaits_directory: bool = False
    due: float = 0.0
    seen: Look | None = None
    is_suspected: bool = False

    @property
    def mode(self) -> str:
        """How it is watched, in the words of the status line."""
        return "inotify" if self.interval is None else f"poll {self.interval:g} s"

    def poll(self, note: str, now: float, *, seconds: float | None = None) -> None:
        """Be looked at regularly from now on."""
        self.interval = seconds or FASTEST_SECONDS
        self.is_fixed = seconds is not None
        self.note = note
        self.due = now + self.interval

    def trust_inotify(self, now: float) -> None:
        """Be looked at only now and then."""
        self.interval = None
        self.note = ""
        self.due = now + SAFETY_SECONDS
        self.is_suspected = False

    def notified(self, current: Look | None, now: float) -> None:
        """inotify spoke, so it can be trusted up to what is there now."""
        self.seen = current
        self.is_suspected = False
        if self.interval is None:
            self.due = now + SAFETY_SECONDS

    def looked(self, current: Look | None, now: float) -> bool:
        """Take in a look that was due; true if it shows a change that has to be reported."""
        if self.interval is None:
            return self._checked_inotify(current, now)
        is_changed = current != self.seen
        self.seen = current
        if not self.is_fixed:
            # The wait grows with the silence, so a change is never much later than its pause.
            slower = min(SLOWEST_SECONDS, self.interval * 2)
            self.interval = FASTEST_SECONDS if is_changed else slower
        self.due = now + self.interval
        return is_changed

    def _checked_inotify(self, current: Look | None, now: float) -> bool:
        if _same_content(current, self.seen):
            self.is_suspected = False
            self.due = now + SAFETY_SECONDS
            return False
        if not self.is_suspected:
            self.is_suspected = True
            self.due = now + GRACE_SECONDS
            return False
        self.seen = current
        self.poll("inotify missed a change of this file", now)
        return True

"""What the user was told: the notices in sight, those that wait, and the last ones."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final, Literal

Severity = Literal["information", "warning", "error"]
SECONDS: Final[dict[Severity, float]] = {"information": 4.0, "warning": 6.0, "error": 8.0}
"""How long a notice stays in sight."""
MOST_SHOWN = 3
"""Notices in sight at once: more would cover what they are about."""
MOST_KEPT = 100
"""Notices that can be looked up afterwards."""


@dataclass(frozen=True, slots=True, eq=False)
class NoticeRecord:
    """One notice; its text is no markup."""

    text: str
    title: str = ""
    severity: Severity = "information"
    seconds: float = SECONDS["information"]
    at: float = 0.0
    """When it was raised, in seconds since the epoch."""
    findings: frozenset[tuple[int, str]] = frozenset()
    """Runs and ids of the findings that it announces."""

    @property
    def sentence(self) -> str:
        """Title and text in one line."""
        line = "; ".join(part for part in self.text.splitlines() if part.strip())
        return f"{self.title}: {line}" if self.title else line


@dataclass(slots=True)
class NoticeBoard:
    """Decides which notices are in sight; it has no clock and draws nothing."""

    shown: list[NoticeRecord] = field(default_factory=list)
    """Those in sight, the newest last."""
    history: deque[NoticeRecord] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    """The last ones, in sight or not, the newest last."""
    _held: list[NoticeRecord] = field(default_factory=list)

    def add(self, notice: NoticeRecord, *, can_show: bool, is_seen: bool = False) -> bool:
        """Take in a notice; true if it comes into sight now.

        `can_show`: there is a place for notices; without one they wait. `is_seen`: the user looks
        at what it announces, so it is only kept.
        """
        self.history.append(notice)
        if is_seen:
            return False
        if not can_show:
            self._held.append(notice)
            return False
        self._show(notice)
        return True

    def release(self) -> list[NoticeRecord]:
        """Bring the newest of those that waited into sight."""
        released, self._held = self._held[-MOST_SHOWN:], []
        for notice in released:
            self._show(notice)
        return released

    def dismiss(self, notice: NoticeRecord) -> bool:
        """Take a notice out of sight; true if it was there."""
        if notice not in self.shown:
            return False
        self.shown.remove(notice)
        return True

    def dismiss_about(self, run: int, finding: str) -> bool:
        """Take notices about a finding away, also those that wait; true if any was in sight."""
        count = len(self.shown)
        self._held = [one for one in self._held if (run, finding) not in one.findings]
        self.shown = [one for one in self.shown if (run, finding) not in one.findings]
        return len(self.shown) < count

    def clear(self) -> None:
        """Take all of them out of sight; they can still be looked up."""
        self.shown.clear()
        self._held.clear()

    def _show(self, notice: NoticeRecord) -> None:
        # Said again, it is one notice and not two.
        kept = [one for one in self.shown if one.sentence != notice.sentence]
        self.shown = [*kept, notice][-MOST_SHOWN:]

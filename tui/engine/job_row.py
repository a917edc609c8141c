"""What the screen knows about the job that trains a run."""

from __future__ import annotations

import math
from typing import NamedTuple

SHORT_OF_TIME = 0.1
"""Part of the time limit below which what is left is worth a warning."""


class JobRow(NamedTuple):
    """A job as its scheduler described it at `asked_at`; what is unknown is None or empty."""

    id: str
    name: str = ""
    state: str = "UNKNOWN"
    """In the scheduler's words, such as `OUT_OF_MEMORY`."""
    phase: str = "unknown"
    """waiting, running, over or unknown."""
    elapsed: float | None = None
    """Seconds of running, at `asked_at`."""
    limit: float | None = None
    """Seconds; infinite if there is none."""
    reason: str = ""
    """Why it waits or how it ended, as the scheduler calls it."""
    reason_words: str = ""
    starts_at: float | None = None
    """When a waiting job is expected to start."""
    ended_at: float | None = None
    asked_at: float | None = None
    nodes: str = ""
    restarts: int = 0
    ending: str = ""
    """Exit code or signal of a job that ended badly."""
    is_ticking: bool = False
    """Its time runs: a suspended job has nodes, too."""

    @property
    def is_waiting(self) -> bool:
        """True if it has no nodes yet."""
        return self.phase == "waiting"

    @property
    def is_running(self) -> bool:
        """True if it has nodes and has not ended."""
        return self.phase == "running"

    @property
    def is_over(self) -> bool:
        """True if it will not run again by itself."""
        return self.phase == "over"

    def elapsed_at(self, now: float) -> float | None:
        """Seconds of running by now, if it still runs; nobody counts on beyond its limit."""
        if self.elapsed is None or self.asked_at is None or not self.is_ticking:
            return self.elapsed
        ticked = self.elapsed + max(0.0, now - self.asked_at)
        return ticked if self.limit is None else max(self.elapsed, min(ticked, self.limit))

    def left_at(self, now: float) -> float | None:
        """Seconds up to the time limit of a running job; None without a limit."""
        elapsed = self.elapsed_at(now)
        if not self.is_running or elapsed is None or self.limit is None:
            return None
        return self.limit - elapsed if math.isfinite(self.limit) else None

    def is_short_of_time(self, now: float) -> bool:
        """True if little of the time limit is left."""
        left = self.left_at(now)
        return left is not None and left < SHORT_OF_TIME * (self.limit or 0.0)

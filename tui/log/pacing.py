"""When a growing log is painted: the first line at once, a stream in few frames."""

from __future__ import annotations

STEADY_SECONDS = 0.4
"""Between two frames of a stream."""
FLOOD_SECONDS = 0.2
"""The same if more than a screenful came since the last frame."""
QUIET_SECONDS = 0.15
"""A stream that paused for so long is shown as far as it is."""


class Pacer:
    """Says how long a repaint may wait; told the time by its owner."""

    def __init__(self) -> None:
        self._painted_at = float("-inf")
        self._interval = STEADY_SECONDS

    def delay(self, now: float) -> float:
        """Seconds from the growth that was just noticed to the frame that shows it."""
        due = min(self._painted_at + self._interval, now + QUIET_SECONDS)
        return max(0.0, due - now)

    def painted(self, now: float, *, is_flood: bool) -> None:
        """A frame was shown."""
        self._painted_at = now
        self._interval = FLOOD_SECONDS if is_flood else STEADY_SECONDS

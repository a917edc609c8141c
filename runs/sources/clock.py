"""Time and waiting, so that tests need neither."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Something that knows the time and can wait."""

    def now(self) -> float:
        """Seconds that only ever grow."""
        ...

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Sleep until notified, or until so much time is over."""
        ...


class SystemClock:
    """The real one."""

    def now(self) -> float:
        """Seconds that only ever grow."""
        return time.monotonic()

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Sleep until notified, or until so much time is over."""
        condition.wait(seconds)

"""How long to wait before trying again: longer each time, and never in step with others."""

from __future__ import annotations

import random
from collections.abc import Callable

FIRST = 0.5
MOST = 30.0
"""Seconds."""


_REFUSED_FIRST = 120.0
_REFUSED_MOST = 600.0


class Backoff:
    """Waits that double up to a limit, each anywhere between nothing and that ("full jitter")."""

    def __init__(
        self,
        first: float = FIRST,
        most: float = MOST,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._first = first
        self._most = most
        self._chance = chance
        self._limit = first

    def next(self) -> float:
        """Seconds to wait now."""
        seconds = self._limit * self._chance()
        self._limit = min(self._most, self._limit * 2)
        return seconds

    def reset(self) -> None:
        """It worked: begin with short waits the next time."""
        self._limit = self._first


def refused_backoff() -> Backoff:
    """Waits of one to ten minutes: a host that refuses log-ins may block who tries more often."""
    return Backoff(_REFUSED_FIRST, _REFUSED_MOST, lambda: 0.5 + random.random() / 2)

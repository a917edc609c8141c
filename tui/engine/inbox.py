"""What the engine's threads leave for its main loop."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path

from .protocol import Wish


class Inbox:
    """Wishes in order, and the set of files that changed; `wait` returns both at once."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._wishes: deque[Wish] = deque()
        self._changed: set[Path] = set()
        self._is_closed = False

    def wish(self, wish: Wish) -> None:
        """The screen wants something."""
        with self._wake:
            self._wishes.append(wish)
            self._wake.notify()

    def changed(self, paths: set[Path]) -> None:
        """Files have changed."""
        with self._wake:
            self._changed |= paths
            self._wake.notify()

    def close(self) -> None:
        """Nobody is interested any more."""
        with self._wake:
            self._is_closed = True
            self._wake.notify()

    @property
    def is_closed(self) -> bool:
        """True once nobody is interested."""
        return self._is_closed

    def wait(self, timeout: float) -> tuple[list[Wish], set[Path]]:
        """Everything that came, as soon as something did or the time is up."""
        with self._wake:
            if timeout > 0 and not (self._wishes or self._changed or self._is_closed):
                self._wake.wait(timeout)
            wishes, changed = list(self._wishes), self._changed
            self._wishes.clear()
            self._changed = set()
            return wishes, changed

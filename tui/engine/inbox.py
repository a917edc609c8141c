"""What the engine's threads leave for its main loop."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .protocol import Wish

if TYPE_CHECKING:
    from .jobs import HeardJobs


class Inbox:
    """Wishes in order, and the set of files that changed; `wait` returns both at once."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._wishes: deque[Wish] = deque()
        self._changed: set[Path] = set()
        self._jobs: list[HeardJobs] = []
        self._errands: list[Callable[[], None]] = []
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

    def jobs(self, heard: HeardJobs) -> None:
        """The schedulers have answered."""
        with self._wake:
            self._jobs.append(heard)
            self._wake.notify()

    def take_jobs(self) -> list[HeardJobs]:
        """What the schedulers said since the last time; whoever waits is woken by it."""
        with self._wake:
            heard, self._jobs = self._jobs, []
            return heard

    def errand(self, work: Callable[[], None]) -> None:
        """A thread wants something done by the main loop, which alone touches the runs."""
        with self._wake:
            self._errands.append(work)
            self._wake.notify()

    def take_errands(self) -> list[Callable[[], None]]:
        """What is to be done for other threads, in order; whoever waits is woken by it."""
        with self._wake:
            errands, self._errands = self._errands, []
            return errands

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
            has_come = any((self._wishes, self._changed, self._jobs, self._errands))
            if timeout > 0 and not has_come and not self._is_closed:
                self._wake.wait(timeout)
            wishes, changed = list(self._wishes), self._changed
            self._wishes.clear()
            self._changed = set()
            return wishes, changed

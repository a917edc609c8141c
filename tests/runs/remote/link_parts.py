"""Stand-ins for what a link has around it: connections that are shells here, clocks that stand."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from mltd.runs.remote.host_link import HostLink
from mltd.runs.remote.problems import LinkError
from tests.waiting import PATIENCE


class NearConnection:
    """Another machine that is this one."""

    def __init__(self, argv: Callable[[int], list[str]] = lambda number: ["sh"]) -> None:
        self.problems: list[LinkError] = []
        self.opened = 0
        self.channels = 0
        self.is_closed = False
        self.is_open = False
        self._argv = argv

    def open(self, *, interactive: bool) -> None:
        assert not interactive
        self.opened += 1
        if self.problems:
            raise self.problems.pop(0)

    def is_alive(self) -> bool:
        return self.is_open

    def channel(self) -> list[str]:
        self.channels += 1
        return self._argv(self.channels)

    def close(self) -> None:
        self.is_closed = True


class StandingClock:
    """Time passes when a test says so, and only while the link waits for it."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._wall = 1_700_000_000.0
        self._waits = 0
        self._due = 0.0

    def now(self) -> float:
        return self._now

    def wall(self) -> float:
        return self._wall

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        self._waits += 1
        condition.wait(0.002)
        # Here and not in the thread of the test: no time passes while the link works.
        due, self._due = self._due, 0.0
        self._now += due
        self._wall += due

    def advance(self, seconds: float) -> None:
        """Let time pass once the link has nothing to do but to wait for it."""
        enough = self._waits + 2
        await_that(lambda: self._waits >= enough)
        self._due = seconds
        await_that(lambda: self._due == 0)

    def sleep(self, seconds: float) -> None:
        """What a closed laptop does: only the clock on the wall goes on."""
        self._wall += seconds


def await_that(condition: Callable[[], object], link: HostLink | None = None) -> None:
    """Wait until it is so; a link tells when to look again."""
    news = threading.Event()
    if link is not None:
        link.on_change(news.set)
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"it never came to that: {link and link.state}"
        news.wait(0.005)
        news.clear()


def children() -> set[int]:
    """Processes that this one has started and that are not gone without a trace."""
    found: set[int] = set()
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        try:
            found.update(map(int, (task / "children").read_text().split()))
        except OSError:
            continue
    return found

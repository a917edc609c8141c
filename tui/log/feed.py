"""Brings the lines that the pane wants to see, one wish at a time, the newest wish first."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Coroutine
from dataclasses import replace
from enum import Enum, auto
from typing import Any, NamedTuple

from mltd.runs.sources.line_scan import Conditions

from .reader import LogReader
from .scanner import LineScanner
from .window import Window


class Kind(Enum):
    """What a wish is about."""

    END = auto()
    OFFSET = auto()
    LINE = auto()
    KEEP = auto()
    """More lines around what is on the screen."""


class Goal(NamedTuple):
    """A place of the log that is to be shown."""

    kind: Kind
    value: int = 0


class Taken(NamedTuple):
    """The lines for a wish; `place` is where a wished line begins, None if it is not known yet."""

    goal: Goal
    window: Window
    place: int | None = None


class LogFeed:
    """Reads one log at a time; `taken` is called on the event loop with what was read."""

    def __init__(
        self,
        reader: LogReader,
        taken: Callable[[Taken], None],
        filtered: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.reader = reader
        self.path = ""
        self.at_hand = 100
        """Lines that are read on each side of a place."""
        self.filter: LineScanner | None = None
        self._taken = taken
        self._filtered = filtered
        self._failed = failed
        self._goal: Goal | None = None
        self._task: asyncio.Task[None] | None = None
        self._others: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """True while somebody waits for lines."""
        return self._task is not None and not self._task.done()

    def open(self, path: str) -> None:
        """Read another file from now on."""
        self.path = path
        self._goal = None
        self._stop_filter()

    def want(self, goal: Goal) -> None:
        """Read the lines for a goal; one that nobody waits for any more is dropped."""
        self._goal = goal
        if not self.is_busy:
            self._task = asyncio.create_task(self._serve())

    def set_filter(self, conditions: Conditions, near: int) -> None:
        """Show only some lines from now on; all of them if the conditions are empty."""
        self._stop_filter()
        if conditions != Conditions():
            self.filter = LineScanner(conditions, self._filtered)
            self.launch(self.filter, near)

    def launch(self, scanner: LineScanner, near: int) -> None:
        """Let a scanner begin with the file as it is now."""
        self._spawn(self._start(scanner, near))

    def drop(self, scanner: LineScanner) -> None:
        """Let a scanner end."""
        scanner.stop()
        self._spawn(scanner.closed())

    async def close(self) -> None:
        """End everything that is under way."""
        self._stop_filter()
        if self._task is not None:
            self._task.cancel()
        if self._others:
            # Processes are seen to their end, but a dead file server is not waited for.
            await asyncio.wait(self._others, timeout=1.0)
        for task in self._others:
            task.cancel()

    def _stop_filter(self) -> None:
        if self.filter is not None:
            self.drop(self.filter)
        self.filter = None

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    async def _start(self, scanner: LineScanner, near: int) -> None:
        given = await self.reader.ask(self.path, lambda log: log.duplicate())
        if given is not None:
            await scanner.start(*given, near)

    async def _serve(self) -> None:
        while (goal := self._goal) is not None:
            self._goal = None
            path = self.path
            try:
                taken = await self._read(goal)
                if path == self.path:
                    self._taken(taken)
            except Exception as error:  # noqa: BLE001 - shown as a notice, and the pane goes on
                self._failed(error)

    async def _read(self, goal: Goal) -> Taken:
        if goal.kind is Kind.LINE:
            return await self._read_line(goal)
        if self.filter is not None:
            return Taken(goal, await self._read_filtered(goal, self.filter))
        count = self.at_hand
        if goal.kind is Kind.END:
            window = await self.reader.ask(self.path, lambda log: log.at_end(count))
        else:
            place = goal.value
            window = await self.reader.ask(self.path, lambda log: log.around(place, count, count))
        return Taken(goal, window)

    async def _read_line(self, goal: Goal) -> Taken:
        number, count = goal.value, self.at_hand
        window, place = await self.reader.ask(
            self.path, lambda log: log.around_line(number, count, count)
        )
        return Taken(goal, window, place)

    async def _read_filtered(self, goal: Goal, scanner: LineScanner) -> Window:
        hits = scanner.hits
        middle = len(hits) if goal.kind is Kind.END else bisect_left(hits, goal.value)
        first, last = max(0, middle - self.at_hand), min(len(hits), middle + self.at_hand)
        offsets = hits[first:last]
        reaches_end = last == len(hits)
        window = await self.reader.ask(self.path, lambda log: log.at(offsets))
        scanner.extend(window.size)
        return replace(window, reaches_start=first == 0, reaches_end=reaches_end)

"""A log that grows: its end is followed in few frames, or what is new is counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ..log.feed import Goal, Kind
from ..log.pacing import Pacer
from ..log.reader import LogReader
from ..log.window import Window
from .log_canvas import guarded
from .log_view import LogView

COUNT_SECONDS = 0.5
"""Between two counts of the lines that came while the log is paused."""
TELL_SECONDS = 0.2
"""Between two updates of how far a search or a filter got."""


class LogFollowing(LogView):
    """Keeps what is shown up to date with the file, the reader and the filter."""

    def __init__(
        self,
        reader: LogReader,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(reader, id=id)
        self._clock = clock
        self._pacer = Pacer()
        self._due: float | None = None
        self._wake: asyncio.TimerHandle | None = None
        self._has_missed_news = False
        self._is_telling = False

    def on_mount(self) -> None:
        """Begin to hear from the reader."""
        self.feed.reader.listen(self._reader_has_news)
        self._retitle()

    async def on_unmount(self) -> None:
        """Hear no more."""
        self.feed.reader.forget(self._reader_has_news)
        if self._wake is not None:
            self._wake.cancel()

    def took(self, *, is_flood: bool) -> None:
        """Pace the next frame, and see whether more is known by now."""
        self._pacer.painted(self._clock(), is_flood=is_flood)
        if self._has_missed_news:
            self._has_missed_news = False
            asyncio.get_running_loop().call_soon(self._reader_has_news, self.path)

    def file_grew(self) -> None:
        """The file that is shown changed; look at it soon."""
        now = self._clock()
        if self.is_following:
            self._due = now + self._pacer.delay(now)
        elif self._due is None:
            self._due = now + COUNT_SECONDS
        if self._wake is None:
            self._ring()

    @guarded
    def _ring(self) -> None:
        self._wake = None
        if self._due is None or not self.is_attached:
            return
        wait = self._due - self._clock()
        if wait > 0.001:
            self._wake = asyncio.get_running_loop().call_later(wait, self._ring)
            return
        self._due = None
        if self.is_following:
            self.feed.want(Goal(Kind.END))
        else:
            self.do(self._count_growth())

    async def _count_growth(self) -> None:
        since, path = self._counted_to, self.path
        window, count = await self.feed.reader.ask(path, lambda log: log.growth(since))
        if path != self.path or self.is_following or self.window is None:
            return
        if window.generation != self.window.generation:
            self._want_again()
            return
        self._counted_to = max(since, window.size)
        # Under a filter nobody knows yet how many of them will be seen.
        self.new_lines += count if self.feed.filter is None else 0
        self._take_size(window)
        self._retitle()

    def _take_size(self, window: Window) -> None:
        """The file is longer than what is at hand."""
        if window.size > self._last_end():
            self.viewport.reaches_end = self.feed.filter is not None and self.viewport.reaches_end
        if self.feed.filter is not None:
            self.feed.filter.extend(window.size)
        self.grown_to(window.size)

    def grown_to(self, size: int) -> None:
        """The file has this size now, and nothing of it may be on the screen."""

    def _last_end(self) -> int:
        lines = self.viewport.lines
        return lines[-1].line.end if lines else 0

    @guarded
    def _reader_has_news(self, path: str) -> None:
        """More is known about a file: numbers of lines, or more of its unpacked text."""
        if path != self.path:
            return
        if self.feed.is_busy:
            # What is on its way was read before this was known.
            self._has_missed_news = True
        elif self.window is None:
            return
        elif self._wanted_line:
            self.feed.want(Goal(Kind.LINE, self._wanted_line))
        elif self.window.is_unpacking or any(
            self.viewport.lines[line].number is None for line, _row in self.viewport.visible()
        ):
            self._want_again()

    @guarded
    def filter_changed(self) -> None:
        """The filter let more lines through."""
        if self.viewport.lines or self.feed.is_busy:
            self.tell_soon()
        else:
            self._want_again()

    def tell_soon(self) -> None:
        """A search or a filter got further; that is shown now and then."""
        if not self._is_telling:
            self._is_telling = True
            asyncio.get_running_loop().call_later(TELL_SECONDS, self.tell)

    @guarded
    def tell(self) -> None:
        """Show how far the search and the filter got."""
        self._is_telling = False
        if not self.is_attached:
            return
        scanner = self.feed.filter
        if scanner is not None and (scanner.is_done or len(self.viewport.lines) < self.rows):
            self._want_again()
        else:
            self._retitle()

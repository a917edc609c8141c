"""Which of the lines at hand are on the screen: scrolling, wrapped or not, and the current line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import attrgetter

from .window import LogLine

_OFFSET = attrgetter("offset")


class Viewport:
    """A screen's height of rows out of lines that follow each other."""

    def __init__(self, row_count: Callable[[LogLine], int]) -> None:
        self._row_count = row_count
        self.lines: Sequence[LogLine] = ()
        self.reaches_start = self.reaches_end = True
        self.height = 1
        self.top = 0
        """First line on the screen."""
        self.skip = 0
        """Rows of it that are above the screen."""
        self.cursor = 0
        """The current line."""

    @property
    def current(self) -> LogLine | None:
        """The line under the cursor."""
        return self.lines[self.cursor] if self.lines else None

    def replace(self, lines: Sequence[LogLine], *, reaches_start: bool, reaches_end: bool) -> None:
        """Take other lines around the same place; what is on the screen stays where it is."""
        top = self.lines[self.top].offset if self.lines else 0
        current = self.current.offset if self.current else 0
        self.lines, self.reaches_start, self.reaches_end = lines, reaches_start, reaches_end
        place = bisect_right(lines, top, key=_OFFSET) - 1
        if place < 0 or lines[place].offset != top:
            self.skip = 0
        self.top = max(0, place)
        self.cursor = self._at(current)
        self.scroll(0)

    def visible(self) -> list[tuple[int, int]]:
        """Line and row within it, for every row of the screen that has one."""
        rows: list[tuple[int, int]] = []
        line, first = self.top, self.skip
        while len(rows) < self.height and line < len(self.lines):
            rows += [(line, row) for row in range(first, self._row_count(self.lines[line]))]
            line, first = line + 1, 0
        return rows[: self.height]

    @property
    def shows_end(self) -> bool:
        """True if the last row of the file is on the screen."""
        return self.reaches_end and (self.top, self.skip) >= self._last_top()

    @property
    def is_at_end(self) -> bool:
        """True if the last line is the current one, and its last row on the screen."""
        return self.cursor >= len(self.lines) - 1 and self.shows_end

    def show_end(self) -> None:
        """The last row at the bottom; the last line is the current one."""
        self.top, self.skip = self._last_top()
        self.cursor = max(0, len(self.lines) - 1)

    def show(self, offset: int, *, above: int) -> None:
        """Make the line that holds an offset the current one, with some rows above it."""
        self.cursor = self._at(offset)
        self.top, self.skip = self.cursor, 0
        self._retreat(above)
        self.top, self.skip = min((self.top, self.skip), self._last_top())

    def scroll(self, rows: int) -> int:
        """Move by rows; the current line is kept on the screen. Rows that no line is there for."""
        owed = self._advance(rows) if rows > 0 else self._retreat(-rows)
        last = self._last_top()
        if (self.top, self.skip) > last:
            owed += self._rows_between(last, (self.top, self.skip)) if rows > 0 else 0
            self.top, self.skip = last
        seen = self.visible()
        if seen:
            self.cursor = min(max(self.cursor, seen[0][0]), seen[-1][0])
        return owed

    def move(self, lines: int) -> int:
        """Make another line the current one. Lines that are not at hand."""
        wanted = self.cursor + lines
        self.cursor = min(max(0, wanted), max(0, len(self.lines) - 1))
        self.reveal()
        return abs(wanted - self.cursor)

    def reveal(self) -> None:
        """Scroll as little as possible so that the current line is on the screen."""
        if not self.lines:
            return
        count = self._row_count(self.lines[self.cursor])
        if self.cursor < self.top:
            # Of a line that is higher than the screen the end is met first.
            self.top, self.skip = self.cursor, max(0, count - self.height)
        elif self.cursor == self.top and self.skip and count <= self.height:
            self.skip = 0
        else:
            start = (self.top, self.skip)
            below = self._rows_between(start, (self.cursor + 1, 0)) - self.height
            if below > 0:
                self._advance(min(below, max(0, self._rows_between(start, (self.cursor, 0)))))

    def hidden_rows(self) -> tuple[int, int]:
        """Rows of the current line above and below the screen."""
        if not self.lines:
            return 0, 0
        above = self.skip if self.cursor == self.top else 0
        end = self._rows_between((self.top, self.skip), (self.cursor + 1, 0))
        return above, max(0, end - self.height)

    def needs_more(self) -> bool:
        """True if scrolling on would soon show lines that are not at hand."""
        seen = self.visible()
        last = seen[-1][0] if seen else 0
        is_low = len(self.lines) - 1 - last < self.height and not self.reaches_end
        return is_low or (self.top < self.height and not self.reaches_start)

    def _at(self, offset: int) -> int:
        return max(0, bisect_right(self.lines, offset, key=_OFFSET) - 1)

    def _last_top(self) -> tuple[int, int]:
        """Where the screen begins if its last row is the last there is."""
        rows, line = 0, len(self.lines)
        while line > 0 and rows < self.height:
            line -= 1
            rows += self._row_count(self.lines[line])
        return line, max(0, rows - self.height)

    def _advance(self, rows: int) -> int:
        self.skip += rows
        while self.top < len(self.lines):
            count = self._row_count(self.lines[self.top])
            if self.skip < count:
                return 0
            self.skip -= count
            self.top += 1
        owed, self.skip = self.skip, 0
        return owed

    def _retreat(self, rows: int) -> int:
        self.skip -= rows
        while self.skip < 0 < self.top:
            self.top -= 1
            self.skip += self._row_count(self.lines[self.top])
        owed, self.skip = max(0, -self.skip), max(0, self.skip)
        return owed

    def _rows_between(self, start: tuple[int, int], end: tuple[int, int]) -> int:
        """Rows from one place to a later one."""
        rows = end[1] - start[1]
        for line in range(start[0], min(end[0], len(self.lines))):
            rows += self._row_count(self.lines[line])
        return rows

"""One log as the reader thread sees it: windows of lines, and their numbers counted behind."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mltd.runs.open_artifact import ANYWHERE
from mltd.runs.sources.line_numbers import LineNumbers
from mltd.runs.sources.text_file import TextFile
from mltd.runs.sources.text_lines import TextLine

from .window import LogLine, Window

SLICE_BYTES = 1 << 20
"""Counted at once: about a millisecond during which no key can be handled."""
MOST_COUNTED = 64 << 20


class OpenLog:
    """For one thread; every window begins with a fresh look at the file."""

    def __init__(self, path: str, root: str = ANYWHERE) -> None:
        self.root = root
        self._text = TextFile(path, root)
        self._numbers = LineNumbers(self._text.read_at)
        self._generation = 0
        self._start = 0
        self._is_unpacking = False

    def at_end(self, count: int) -> Window:
        """The last lines."""
        self._look()
        return self._window(self._text.last_lines(count))

    def around(self, offset: int, before: int, after: int) -> Window:
        """Lines on both sides of the one that holds the byte at `offset`."""
        self._look()
        if self._text.size == self._text.start:
            return self._window([])
        first = self._text.line_start(offset)
        lines = self._text.lines_before(first, before) + self._text.lines_from(first, after)
        return self._window(lines)

    def around_line(self, number: int, before: int, after: int) -> tuple[Window, int | None]:
        """The same for a line's number, and where it begins; None until that was counted."""
        self._look()
        offset = self._numbers.offset_of(number)
        if offset is None:
            if self._numbers.size < self._text.size or self._is_unpacking:
                return self._window([]), None
            offset = self._text.size
        return self.around(offset, before, after), self._text.line_start(offset)

    def at(self, offsets: Sequence[int]) -> Window:
        """The lines that begin at these places, which a filter has found."""
        self._look()
        lines = [line for offset in offsets for line in self._text.lines_from(offset, 1)]
        return self._window(lines)

    def _count_newlines(self, start: int, end: int) -> int:
        """Newlines between two places; a huge stretch is not counted to its end."""
        count = 0
        end = min(end, start + MOST_COUNTED)
        while start < end and (block := self._text.read_at(start, min(SLICE_BYTES, end - start))):
            count += block.count(b"\n")
            start += len(block)
        return count

    def growth(self, since: int) -> tuple[Window, int]:
        """How the file is doing, and how many lines ended since it had some length."""
        self._look()
        return self._window([]), self._count_newlines(since, self._text.size)

    def number_of(self, offset: int) -> int | None:
        """Number of the line that begins at `offset`."""
        return self._numbers.numbers_at([offset])[0]

    def duplicate(self) -> tuple[int, int, int] | None:
        """A descriptor of the text for another process, and where the text begins and ends."""
        self._look()
        descriptor = self._text.descriptor
        if descriptor is None:
            return None
        return os.dup(descriptor), self._text.start, self._text.size

    def work(self) -> bool:
        """Unpack or count a little; false if there was nothing to do."""
        if self._is_unpacking:
            self._is_unpacking = self._text.copy_more()
            return True
        return self._count()

    def close(self) -> None:
        """Let go of the file."""
        self._text.close()

    def _look(self) -> None:
        self._text.look()
        if (self._text.generation, self._text.start) != (self._generation, self._start):
            # Another file, or one of which an earlier part has come: count again.
            self._generation, self._start = self._text.generation, self._text.start
            self._numbers = LineNumbers(self._text.read_at, start=self._text.start)
        if self._text.has_copy:
            self._is_unpacking = self._text.copy_more()
        # What a file grows by usually is counted at once, so that its lines have numbers.
        if 0 < self._text.size - self._numbers.size <= SLICE_BYTES:
            self._count()

    def _count(self) -> bool:
        if self._text.is_partial:
            return False  # nobody knows how many lines are before these
        counted = self._numbers.size
        length = min(SLICE_BYTES, self._text.size - counted)
        data = self._text.read_at(counted, length) if length > 0 else b""
        self._numbers.extend(data)
        return bool(data)

    def _window(self, lines: list[TextLine]) -> Window:
        text = self._text
        numbers = self._numbers.numbers_at(line.offset for line in lines)
        if text.is_partial:
            numbers = [None] * len(lines)
        return Window(
            tuple(map(LogLine, lines, numbers)),
            text.generation,
            text.status,
            text.start,
            text.size,
            reaches_start=not lines or (lines[0].offset <= text.start and not text.is_partial),
            reaches_end=not lines or lines[-1].end >= text.size,
            counted=self._numbers.size,
            line_count=self._numbers.lines,
            note=text.note,
            is_packed=text.is_packed,
            is_unpacking=self._is_unpacking,
        )

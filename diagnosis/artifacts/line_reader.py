"""Lines of one artifact by their numbers; what was counted once is not counted again."""

from __future__ import annotations

import os
import time

from mltd.runs.sources.line_numbers import LineNumbers
from mltd.runs.sources.text_copy import HEAD_BYTES, needs_copy

from .artifact import Artifact, BookLine, Excerpt
from .belonging import opened
from .errors import ArtifactError
from .half_copied import refuse_half
from .keys import KeyWatch
from .text_blocks import BLOCK_BYTES, Packing, TooLong, line_text, stretches, text_blocks

READ_SECONDS = 2.0
MOST_LINES = 200
"""Of one look."""
BEFORE_LINES = 300
"""Looked at before the wanted ones: they may be in the middle of a private key."""
_TAIL_BYTES = 256
_NO_LINE = 1 << 62
"""No file has so many lines: the end is wanted."""


class LineReader:
    """Reads one file again and again, while it grows or is replaced."""

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self._descriptor = -1
        self._numbers = LineNumbers(self._read_at)
        self._head = self._tail = b""

    @property
    def counted(self) -> tuple[int, int]:
        """Lines that were counted by now, and the bytes that they take."""
        return self._numbers.lines, self._numbers.size

    def read(self, first: int, last: int, longest: int, seconds: float = READ_SECONDS) -> Excerpt:
        """Lines from the 1-based `first` to `last`, as far as there are any.

        Negative numbers count from the end: -1 is the last line.
        """
        deadline = time.monotonic() + seconds
        with opened(self.artifact) as self._descriptor:
            try:
                refuse_half(self.artifact, self._descriptor)
                if first < 0 or last < 0:
                    total = self._total(deadline)
                    first, last = (total + n + 1 if n < 0 else n for n in (first, last))
                first = max(1, first)
                if last < first:
                    raise ArtifactError(f"line {last:,} comes before line {first:,}")
                last = min(last, first + MOST_LINES - 1)
                return self._read(first, last, longest, deadline)
            except Packing as problem:
                raise ArtifactError(f"{self.artifact.name} {problem}") from None
            except OSError as error:
                reason = os.strerror(error.errno or 0)
                raise ArtifactError(f"{self.artifact.name} cannot be read: {reason}") from None
            finally:
                self._descriptor = -1

    def _read(self, first: int, last: int, longest: int, deadline: float) -> Excerpt:
        begin = max(1, first - BEFORE_LINES)
        head = os.pread(self._descriptor, HEAD_BYTES, 0)
        offset, number, total = 0, 1, None
        if not needs_copy(head):
            is_whole = self._count(head, first, last, deadline)
            total = self._numbers.lines if is_whole else None
            offset, number = self._numbers.offset_of(begin) or 0, begin
            if self._numbers.lines < begin:
                return self._nothing(first, self._numbers.lines, is_whole=is_whole)
        found, reached = self._collect(first, last, longest, deadline, offset, number)
        before = found.pop(0) if found and found[0].number < first else None
        if not found:
            return self._nothing(first, reached, is_whole=True)
        return Excerpt(self.artifact, tuple(found), total, self.artifact.note, before)

    def _total(self, deadline: float) -> int:
        """How many lines there are, in a file that may have to be read to its end for that."""
        head = os.pread(self._descriptor, HEAD_BYTES, 0)
        if not needs_copy(head):
            self._count(head, _NO_LINE, _NO_LINE, deadline)
            return self._numbers.lines
        lines = 0
        try:
            for stretch in stretches(text_blocks(self._descriptor, deadline)):
                lines += stretch.data.count(b"\n") + (not stretch.data.endswith(b"\n"))
        except TooLong:
            raise ArtifactError(self._gave_up(_NO_LINE, lines)) from None
        return lines

    def _collect(
        self, first: int, last: int, longest: int, deadline: float, offset: int, number: int
    ) -> tuple[list[BookLine], int]:
        """The wanted lines and the one before, and the number of the last line that was seen."""
        found: list[BookLine] = []
        keys = KeyWatch()
        number -= 1
        try:
            for stretch in stretches(text_blocks(self._descriptor, deadline, offset)):
                count = stretch.data.count(b"\n") + (not stretch.data.endswith(b"\n"))
                if number + count < first - BEFORE_LINES:
                    keys.skip(stretch.data)
                    number += count
                    continue
                for data in stretch.data.removesuffix(b"\n").split(b"\n"):
                    number += 1
                    if number > last:
                        return found, number
                    is_key = keys.see(data)
                    if number >= first - 1:
                        found.append(_line(number, data, stretch.clipped, longest, is_key))
        except TooLong:
            if number < first:
                raise ArtifactError(self._gave_up(first, number)) from None
        return found, number

    def _count(self, head: bytes, first: int, last: int, deadline: float) -> bool:
        """Count lines up to the last one that is wanted; true if the end of the file was seen."""
        size = os.fstat(self._descriptor).st_size
        if not self._goes_on(head, size):
            self._numbers = LineNumbers(self._read_at)
            self._head = self._tail = b""
        self._head = head
        try:
            self._count_on(size, first, last, deadline)
        finally:
            length = min(_TAIL_BYTES, self._numbers.size)
            self._tail = self._read_at(self._numbers.size - length, length)
        return self._numbers.size >= size

    def _count_on(self, size: int, first: int, last: int, deadline: float) -> None:
        while (counted := self._numbers.size) < size and self._numbers.lines <= last:
            data = self._read_at(counted, min(BLOCK_BYTES, size - counted))
            if not data:
                break
            if time.monotonic() > deadline:
                if self._numbers.lines < first:
                    raise ArtifactError(self._gave_up(first, self._numbers.lines))
                break
            self._numbers.extend(data)

    def _goes_on(self, head: bytes, size: int) -> bool:
        """True if the file still begins and goes on with what was counted."""
        if size < self._numbers.size or not head.startswith(self._head):
            return False
        place = self._numbers.size - len(self._tail)
        return self._read_at(place, len(self._tail)) == self._tail

    def _read_at(self, offset: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, offset)

    def _nothing(self, first: int, lines: int, *, is_whole: bool) -> Excerpt:
        if not lines:
            raise ArtifactError(f"{self.artifact.name} is empty")
        raise ArtifactError(
            f"{self.artifact.name} has {lines:,} lines, so no line {first:,}"
            if is_whole
            else self._gave_up(first, lines)
        )

    def _gave_up(self, wanted: int, reached: int) -> str:
        where = "its end" if wanted >= _NO_LINE else f"line {wanted:,}"
        return (
            f"{self.artifact.name} is too large to get to {where} in the time that a look "
            f"may take (line {reached:,} was reached); ask for earlier lines, or ask again: "
            "what was counted is remembered unless the file is compressed"
        )


def _line(number: int, data: bytes, clipped: int, longest: int, is_key: bool) -> BookLine:
    text, clipped = line_text(data, clipped)
    return BookLine(number, text[:longest], clipped + max(0, len(text) - longest), is_key)

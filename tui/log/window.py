"""What the reader hands to the pane: lines around a place, and how the file is doing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mltd.runs.sources.pieces import FollowState, FollowStatus
from mltd.runs.sources.text_lines import TextLine


class LogLine(NamedTuple):
    """One line and its number, if that was counted yet."""

    line: TextLine
    number: int | None = None

    @property
    def offset(self) -> int:
        """Where it begins."""
        return self.line.offset


_NOT_THERE = FollowStatus(FollowState.MISSING)


@dataclass(frozen=True, slots=True)
class Window:
    """Lines that follow each other, as they were when the file was looked at."""

    lines: tuple[LogLine, ...] = ()
    generation: int = 0
    status: FollowStatus = _NOT_THERE
    start: int = 0
    size: int = 0
    reaches_start: bool = True
    reaches_end: bool = True
    counted: int = 0
    """Up to here lines were counted."""
    line_count: int = 0
    """Lines up to there."""
    note: str = ""
    is_packed: bool = False
    """The file is compressed and will not grow."""
    is_unpacking: bool = False

    @property
    def is_counted(self) -> bool:
        """True if the number of every line is known."""
        return self.counted >= self.size

    def completes(self, before: Window) -> bool:
        """True if a file has appeared, or what was missing of a remote one has been copied."""
        if not before.generation:
            return self.generation > 0
        return before.start > 0 == self.start

"""The run header: two rows that never look fresher than the data are."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip

from .. import palette
from ..engine.protocol import RunStatus
from ..findings.spans import Line
from ..pane import Pane
from .run_freshness import freshness
from .run_header_rows import Look, header_rows, home_directory

ROWS = 2


class RunHeader(Pane):
    """Shows how a run is doing; only cells that changed are painted again."""

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.time,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(id=id)
        self.now = now
        """The clock; ages are told by it."""
        self._status: RunStatus | None = None
        self._position = (1, 1)
        self._waiting_for = ""
        self._trouble = ""
        self._weights = ("", 0)
        self._growths = 0
        self._home = home_directory()
        self._strips: list[Strip] = []

    @property
    def status(self) -> RunStatus | None:
        """How the run is doing; None: nothing is known yet."""
        return self._status

    @status.setter
    def status(self, status: RunStatus | None) -> None:
        before, self._status = self._status, status
        if status is None or before is None or before.run != status.run:
            self._growths = 0
        elif status.lag_seconds > before.lag_seconds:
            self._growths += 1
        elif status.lag_seconds < before.lag_seconds:
            self._growths = 0
        self.tick()

    def show(self, status: RunStatus | None) -> None:
        """Show how the run is doing."""
        self.status = status

    @property
    def position(self) -> tuple[int, int]:
        """Place of the run among how many, from 1."""
        return self._position

    @position.setter
    def position(self, position: tuple[int, int]) -> None:
        self._position = position
        self.tick()

    @property
    def waiting_for(self) -> str:
        """The file or run that is expected, before anything is known of it."""
        return self._waiting_for

    @waiting_for.setter
    def waiting_for(self, what: str) -> None:
        self._waiting_for = what
        self.tick()

    @property
    def rows(self) -> tuple[Line, Line]:
        """What the header says now."""
        now = self.now()
        look = Look(
            self._status,
            self._position,
            freshness(self._status, now, self._growths),
            self._waiting_for,
            self._home,
            self._trouble,
            now,
            self._weights,
        )
        return header_rows(look, self.size.width)

    @property
    def trouble(self) -> str:
        """Why nothing here can be trusted to be up to date; empty if it can."""
        return self._trouble

    @trouble.setter
    def trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            self.tick()

    @property
    def weights(self) -> tuple[str, int]:
        """The worst alarm in the weights that are looked at, and how many there are."""
        return self._weights

    @weights.setter
    def weights(self, weights: tuple[str, int]) -> None:
        if weights != self._weights:
            self._weights = weights
            self.tick()

    def tick(self) -> None:
        """Let time pass: paint the cells that it changed, and nothing if it changed none."""
        if not self.is_mounted or not self.size.width:
            return
        before, self._strips = self._strips, [self._strip(line) for line in self.rows]
        for y, strip in enumerate(self._strips):
            changed = _changed(before[y] if y < len(before) else None, strip)
            if changed is not None:
                start, end = changed
                self.refresh(Region(start, y, end - start, 1))

    def on_resize(self, event: events.Resize) -> None:
        """Lay out anew."""
        self._strips = []
        self.tick()

    def notify_style_update(self) -> None:
        """The theme changed: all cells have other colours."""
        super().notify_style_update()
        self._strips = []
        self.tick()

    def render_line(self, y: int) -> Strip:
        """One of the two rows."""
        if y >= len(self._strips):
            return Strip.blank(self.size.width, self.rich_style)
        return self._strips[y].apply_style(self.rich_style)

    def _strip(self, line: Line) -> Strip:
        return (
            Strip(
                [
                    Segment(text, palette.style(self.app, meaning) if meaning else Style())
                    for text, meaning in line
                ]
            )
            .adjust_cell_length(self.size.width)
            .simplify()
        )


def _changed(before: Strip | None, after: Strip) -> tuple[int, int] | None:
    """First and last cell that differ; None if none does."""
    if before is None or before.cell_length != after.cell_length:
        return 0, after.cell_length
    old, new = _cells(before), _cells(after)
    different = [x for x, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    return (different[0], different[-1] + 1) if different else None


def _cells(strip: Strip) -> list[tuple[str, Style | None]]:
    """What stands in every cell; the second cell of a wide character has its first one's text."""
    found: list[tuple[str, Style | None]] = []
    for text, style, _ in strip:
        for character in text:
            width = Segment(character).cell_length
            if width == 0 and found:
                found[-1] = (found[-1][0] + character, found[-1][1])
            found.extend([(character, style)] * width)
    return found

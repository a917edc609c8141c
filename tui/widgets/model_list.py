"""The list of the model view: only the lines in sight are laid out, however many there are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.message import Message

from ..model.items import Item
from ..model.rows import line_of
from ..palette import style
from .line_table import LineTable

CURSOR = "▌"


class ModelList(LineTable, can_focus=False, inherit_bindings=False):
    """Shows lines with a cursor; its pane has the keys."""

    HEADING = 0

    @dataclass
    class Moved(Message):
        """Another line is under the cursor."""

    @dataclass
    class Opened(Message):
        """The line under the cursor was clicked twice."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.items: Sequence[Item] = ()
        self._largest = 0.0
        self.clock = time.time

    @property
    def item(self) -> Item | None:
        """The line under the cursor."""
        found = self.items[self.cursor] if self.cursor < len(self.items) else None
        return None if found is None or found.is_heading else found

    def show(self, items: Sequence[Item], cursor: str = "") -> None:
        """Show other lines; the cursor stays on its own, or goes to the one with this key."""
        before = self.item
        wanted = cursor
        if before is not None and before.branch is None:
            wanted = cursor or before.key
        # Where more rows were waited for, the first of them takes the place of the line.
        place = next((n for n, item in enumerate(items) if item.key == wanted), None)
        self.items = items
        moved = [
            i.move.relative for i in items if i.move is not None and i.move.relative is not None
        ]
        self._largest = max(moved, default=0.0)
        self.set_count(len(items), self.cursor if place is None else place)

    def set_active(self, is_active: bool) -> None:
        """Draw the cursor as the one that keys move, or as resting."""
        self.set_class(is_active, "-active")

    def draw_heading(self, width: int) -> Sequence[Segment]:
        """Headings are lines of the list."""
        return []

    def draw_line(self, number: int, width: int, is_current: bool) -> Sequence[Segment]:
        """The cursor's mark, then the line."""
        mark = "confidence" if self.has_class("-active") else "quiet"
        segments = [Segment(CURSOR, style(self.app, mark)) if is_current else Segment(" ")]
        room = max(1, width - 1)
        line = line_of(self.items[number], room, now=self.clock(), largest=self._largest)
        for text, meaning in line:
            segments.append(Segment(text, style(self.app, meaning) if meaning else Style()))
        if not is_current:
            return segments
        ground = Style(bgcolor=self.get_component_rich_style("line-table--cursor").bgcolor)
        rest = max(0, width - sum(segment.cell_length for segment in segments))
        return [
            *(Segment(text, (own or Style()) + ground) for text, own, _ in segments),
            Segment(" " * rest, ground),
        ]

    def is_choosable(self, number: int) -> bool:
        """Headings are passed over."""
        return not self.items[number].is_heading

    def cursor_moved(self) -> None:
        """Tell whoever shows the rest of it."""
        self.post_message(self.Moved())

    def line_clicked(self, event: Click) -> None:
        """A second click does what Enter does."""
        self.post_message(self.Opened() if event.chain > 1 else self.Moved())

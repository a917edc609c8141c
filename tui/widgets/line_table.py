"""A table of one line per item, however many there are: only what is seen is drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..cells import fitted
from ..escaping import printable
from ..palette import style
from ..pane import Pane

_CALM_WIDTH = 60
"""Columns of a sentence in the middle of nothing."""


class LineTable(Pane, ScrollView, can_focus=True):
    """A heading that stays, lines that scroll, and a cursor on one of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="table.up", show=False),
        Binding("down,j", "move(1)", "Down", id="table.down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="table.page_up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="table.page_down", show=False),
        Binding("home,g", "end(-1)", "First", id="table.first", show=False),
        Binding("end,G", "end(1)", "Last", id="table.last", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-table--cursor", "line-table--heading"}
    HEADING = 1
    """Lines above the first item."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as widgets call it
        super().__init__(id=id)
        self.count = 0
        self.cursor = 0
        self.empty = ""
        """What to say where there is no item."""

    # -- what a table is made of, said by those who derive from it ---------------------------

    def draw_heading(self, width: int) -> Sequence[Segment]:
        """The line above the items."""
        raise NotImplementedError

    def draw_line(self, number: int, width: int, is_current: bool) -> Sequence[Segment]:
        """One item."""
        raise NotImplementedError

    def is_choosable(self, number: int) -> bool:
        """False for lines that the cursor passes over."""
        return True

    def cursor_moved(self) -> None:
        """Another line is the current one, or the current line is another item."""

    def line_clicked(self, event: Click) -> None:
        """The current line was clicked."""

    # -- drawing -----------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """The heading, an item, or nothing."""
        width = self.scrollable_content_region.width
        base = self.rich_style
        number = y - self.HEADING + self.scroll_offset.y
        if not self.count:
            return self._empty_line(y, width).apply_style(base)
        if y < self.HEADING:
            base += self.get_component_rich_style("line-table--heading", partial=True)
            drawn = self.draw_heading(width)
        elif number >= self.count:
            return Strip.blank(width, base)
        else:
            is_current = number == self.cursor
            drawn = self.draw_line(number, width, is_current)
            if is_current:
                base += self.get_component_rich_style("line-table--cursor", partial=True)
                if base.reverse:
                    # A cell that is reversed itself would look as if it were not.
                    drawn = [Segment(segment.text) for segment in drawn]
        return Strip(drawn).adjust_cell_length(width).apply_style(base)

    def _empty_line(self, y: int, width: int) -> Strip:
        text = textwrap.wrap(printable(self.empty), max(1, min(width - 4, _CALM_WIDTH)))
        place = y - max(0, (self.size.height - len(text)) // 2)
        if not 0 <= place < len(text):
            return Strip.blank(width)
        shown = fitted(text[place].center(width), width)
        return Strip([Segment(shown, style(self.app, "quiet"))]).adjust_cell_length(width)

    def set_empty(self, text: str) -> None:
        """Say something where there is no item."""
        if text != self.empty:
            self.empty = text
            if not self.count:
                self.refresh()

    def set_count(self, count: int, cursor: int) -> None:
        """There are other items; the cursor stays at the same height of the screen."""
        height = self.cursor - self.scroll_offset.y
        self.count = count
        self.virtual_size = Size(0, count + self.HEADING)
        self.cursor = self._choosable(cursor, 1)
        self._scroll_update(self.virtual_size)
        self.scroll_to(y=max(0, self.cursor - height), animate=False)
        self._show_cursor()
        self.refresh()

    def refresh_item(self, number: int) -> None:
        """Draw one item again, if it is seen."""
        y = number - self.scroll_offset.y + self.HEADING
        if self.HEADING <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def on_resize(self, event: Resize) -> None:
        """Keep the cursor in sight."""
        self._show_cursor()

    # -- moving ------------------------------------------------------------------------------

    @property
    def page(self) -> int:
        """Items that are seen at once."""
        return max(1, self.scrollable_content_region.height - self.HEADING)

    def move_to(self, number: int, direction: int = 1) -> None:
        """Put the cursor on an item, or on the nearest in this direction that can have it."""
        number = self._choosable(number, direction)
        if number == self.cursor:
            return
        before, self.cursor = self.cursor, number
        self.refresh_item(before)
        self.refresh_item(number)
        self._show_cursor()
        self.cursor_moved()

    def _choosable(self, number: int, direction: int) -> int:
        number = max(0, min(self.count - 1, number))
        for way in (direction, -direction):
            place = number
            while 0 <= place < self.count:
                if self.is_choosable(place):
                    return place
                place += way
        return 0

    def _show_cursor(self) -> None:
        top = self.scroll_offset.y
        # What stands above the first item is shown along with it.
        first = 0 if self.cursor == self._choosable(0, 1) else self.cursor
        if first < top:
            self.scroll_to(y=first, animate=False)
        elif self.cursor >= top + self.page:
            self.scroll_to(y=self.cursor - self.page + 1, animate=False)

    def action_move(self, by: int) -> None:
        """Go to a neighbour."""
        self.move_to(self.cursor + by, by)

    def action_page(self, by: int) -> None:
        """Go a page further."""
        self.move_to(self.cursor + by * max(1, self.page - 1), by)

    def action_end(self, which: int) -> None:
        """Go to the first or to the last item."""
        self.move_to(0 if which < 0 else self.count - 1, -which)

    def on_click(self, event: Click) -> None:
        """Go where the mouse points."""
        number = event.y - self.HEADING + self.scroll_offset.y
        if event.y >= self.HEADING and number < self.count and self.is_choosable(number):
            self.move_to(number)
            self.line_clicked(event)

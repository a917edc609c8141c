"""A scrolling column of blocks with a cursor; only rows that changed are painted again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .. import palette
from ..findings.blocks import Block, Target
from ..findings.spans import Line
from ..pane import Pane

CURSOR = "▌"


class FindingView(Pane, ScrollView, can_focus=False):
    """Shows blocks; the cursor stands on those that one can point at."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"finding-view--cursor", "finding-view--resting"}

    @dataclass
    class Clicked(Message):
        """A block was clicked."""

        view: FindingView
        index: int

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._blocks: tuple[Block, ...] = ()
        self._rows: list[tuple[int, Line]] = []
        self._starts: list[int] = []
        self.index: int | None = None
        """Block under the cursor."""
        self._is_active = False

    @property
    def target(self) -> Target | None:
        """What the cursor points at."""
        return None if self.index is None else self._blocks[self.index].target

    @property
    def texts(self) -> list[str]:
        """The rows as plain text."""
        return ["".join(span.text for span in line) for _, line in self._rows]

    def set_active(self, is_active: bool) -> None:
        """Draw the cursor as the one that keys move, or as resting."""
        if is_active != self._is_active:
            self._is_active = is_active
            self._repaint_block(self.index)

    def show(self, blocks: Sequence[Block], *, cursor: Hashable = None, is_new: bool) -> None:
        """Show these blocks.

        `is_new`: something else is shown from its top, with the cursor at `cursor` or at the
        first place. Otherwise the cursor stays on its block and the block where it is on screen.
        """
        blocks = tuple(blocks)
        if not is_new and blocks == self._blocks:
            return
        old_rows, old_index = self._rows, self.index
        above = self._starts[old_index] - self.scroll_offset.y if old_index is not None else 0
        wanted = cursor
        if not is_new and old_index is not None:
            wanted = self._blocks[old_index].key
        self._blocks = blocks
        self._rows = [(n, line) for n, block in enumerate(blocks) for line in block.lines]
        self._starts = [0]
        for block in blocks:
            self._starts.append(self._starts[-1] + len(block.lines))
        self.index = self._find(wanted, None if is_new else old_index)
        if len(self._rows) != self.virtual_size.height:
            self.virtual_size = Size(0, len(self._rows))  # sets off a layout of the screen
        if is_new:
            self.scroll_to(y=0, animate=False)
        elif self.index is not None and old_index is not None:
            self.scroll_to(y=self._starts[self.index] - above, animate=False)
        self._repaint_rows(old_rows, old_index)

    def set_cursor(self, index: int | None) -> None:
        """Put the cursor on a block, and the block into view."""
        before, self.index = self.index, index
        if before != index:
            self._repaint_block(before)
            self._repaint_block(index)
        if index is not None:
            self._reveal(index, is_going_down=before is None or index >= before)

    def move(self, direction: int) -> None:
        """Go to the next place, or scroll if that is out of sight: nothing is jumped over."""
        here, height, top = self.index, self.size.height, self.scroll_offset.y
        if here is not None:
            start, end = self._starts[here], self._starts[here + 1]
            if direction > 0 and end > top + height:
                return self._scroll_rows(min(height - 1, end - top - height))
            if direction < 0 and start < top:
                return self._scroll_rows(-min(height - 1, top - start))
        following = self._next(here, direction)
        if following is None:
            return self._scroll_rows(direction * max(1, height // 2))
        start, end = self._starts[following], self._starts[following + 1]
        is_near = start < top + height + height // 2 if direction > 0 else end > top - height // 2
        if is_near:
            return self.set_cursor(following)
        return self._scroll_rows(direction * max(1, height // 2))

    def move_page(self, direction: int) -> None:
        """Scroll a page; the cursor goes along to the first place in sight."""
        self._scroll_rows(direction * max(1, self.size.height - 1))
        top = self.scroll_offset.y
        seen = [n for n in self._places() if top <= self._starts[n] < top + self.size.height]
        if seen:
            self.set_cursor(seen[0])
        elif direction < 0 and top == 0:
            self.set_cursor(next(iter(self._places()), None))

    def move_to_end(self, direction: int) -> None:
        """Go to the first or the last place."""
        places = self._places()
        if places:
            self.set_cursor(places[0] if direction < 0 else places[-1])
        self.scroll_to(y=0 if direction < 0 else len(self._rows), animate=False)

    def render_line(self, y: int) -> Strip:
        """One row: the cursor's mark, then the text."""
        row, width = y + self.scroll_offset.y, self.size.width
        if row >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        number, line = self._rows[row]
        is_cursor = number == self.index
        ground = self._cursor_ground() if is_cursor else Style()
        mark = palette.style(self.app, "confidence" if self._is_active else "quiet")
        segments = [Segment(CURSOR, mark + ground) if is_cursor else Segment(" ")]
        for text, meaning in line:
            style = palette.style(self.app, meaning) if meaning else Style()
            segments.append(Segment(text, style + ground))
        strip = Strip(segments).adjust_cell_length(width, ground).simplify()
        return strip.apply_style(self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Tell which block was meant."""
        row = event.y + self.scroll_offset.y
        if row < len(self._rows) and self._blocks[self._rows[row][0]].target is not None:
            self.post_message(self.Clicked(self, self._rows[row][0]))

    def _cursor_ground(self) -> Style:
        name = "finding-view--cursor" if self._is_active else "finding-view--resting"
        style = self.get_component_rich_style(name)
        return Style(bgcolor=style.bgcolor, bold=style.bold, reverse=style.reverse)

    def _places(self) -> list[int]:
        return [n for n, block in enumerate(self._blocks) if block.target is not None]

    def _next(self, here: int | None, direction: int) -> int | None:
        places = self._places()
        if here is None:
            return places[0] if places and direction > 0 else None
        beyond = [n for n in places if (n - here) * direction > 0]
        return beyond[0 if direction > 0 else -1] if beyond else None

    def _find(self, key: Hashable, fallback: int | None) -> int | None:
        places = self._places()
        for number in places:
            if key is not None and self._blocks[number].key == key:
                return number
        if not places:
            return None
        if fallback is None:
            return places[0]
        return min(places, key=lambda number: abs(number - fallback))

    def _reveal(self, index: int, *, is_going_down: bool) -> None:
        start, end = self._starts[index], self._starts[index + 1]
        height, top = self.size.height, self.scroll_offset.y
        if self._next(index, -1) is None and end <= height:
            self.scroll_to(y=0, animate=False)  # what stands above the first place is seen too
        elif end - start >= height:
            self.scroll_to(y=start if is_going_down else end - height, animate=False)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False)
        elif start < top:
            self.scroll_to(y=start, animate=False)

    def _scroll_rows(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False)

    def _repaint_block(self, index: int | None) -> None:
        if index is not None and index < len(self._blocks):
            start, end = self._starts[index], self._starts[index + 1]
            self.refresh_lines(start, end - start)

    def _repaint_rows(self, old: list[tuple[int, Line]], old_index: int | None) -> None:
        """Paint what differs, row by row."""
        for row in range(max(len(old), len(self._rows))):
            before = old[row] if row < len(old) else None
            after = self._rows[row] if row < len(self._rows) else None
            was_cursor = before is not None and before[0] == old_index
            is_cursor = after is not None and after[0] == self.index
            same = before is not None and after is not None and before[1] == after[1]
            if not same or was_cursor != is_cursor:
                self.refresh_lines(row)

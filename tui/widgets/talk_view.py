"""The column of a conversation: it follows its end while new text comes, unless one reads above."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..findings.blocks import Block
from .finding_view import FindingView


class TalkView(FindingView):
    """Shows blocks that grow at their end."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.is_following = True
        self._is_showing = False

    def show(self, blocks: Sequence[Block], *, cursor: Hashable = None, is_new: bool) -> None:
        """Show these blocks; at the end if that is what was looked at."""
        self._is_showing = True
        try:
            super().show(blocks, cursor=cursor, is_new=is_new)
            if self.is_following:
                self.scroll_to(y=len(self._rows), animate=False)
        finally:
            self._is_showing = False

    def show_from(self, key: Hashable, cursor: Hashable) -> None:
        """Put a block at the top of the view, and the cursor on another below it."""
        keys = [block.key for block in self._blocks]
        if key not in keys:
            return
        if cursor in keys:
            self.set_cursor(keys.index(cursor))
        self.scroll_to(y=self._starts[keys.index(key)], animate=False)

    @property
    def allow_vertical_scroll(self) -> bool:
        """Also in the moment before its scroll bar is there."""
        return True

    def on_resize(self) -> None:
        """Stay at the end."""
        if self.is_following:
            self.scroll_to(y=len(self._rows), animate=False)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.move_to_end(1)
        self.is_following = True

    def move(self, direction: int) -> None:
        """Go to the next place in sight, or scroll to where it is."""
        top, height = self.scroll_offset.y, self.size.height
        here = self.index
        if here is not None and self._is_far(here, top, height):
            # The text went on without the cursor: go on from where one reads.
            places = [n for n in self._places() if not self._is_far(n, top, height)]
            if places:
                self.set_cursor(places[0 if direction > 0 else -1])
            else:
                self._scroll_rows(direction * max(1, height // 2))
            return
        super().move(direction)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Whoever scrolls up wants to read; whoever comes back to the end wants to follow."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_showing:
            self.is_following = new_value >= self.max_scroll_y

    def _is_far(self, number: int, top: int, height: int) -> bool:
        return self._starts[number + 1] <= top or self._starts[number] >= top + height

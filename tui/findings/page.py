"""Everything the pane shows at one size, laid out."""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import Block
from .detail import detail, nothing_found
from .names import axis_word
from .room import TALL_ROWS, Room, Shape, left_width, shape_for, share
from .rows import CARD_TITLE_LINES, cards, overview, summary
from .selection import Selection
from .spans import Line, Span, fit
from .verdict import verdict

GUTTER = 1
"""Cells left of every row, for the cursor's mark."""
SCROLLBAR = 1
"""Cells right of every row, used or not, so that nothing moves when a list grows."""
LEAST_FOR_RULE = 5
"""Rows of a summary from which a rule may take one."""


class Page:
    """Lays a verdict out for a size; the detail only if it is asked for."""

    def __init__(
        self,
        width: int,
        height: int,
        chosen: Selection,
        *,
        is_reading: bool = False,
        state: str = "",
        names: Sequence[str] = (),
    ) -> None:
        self._chosen = chosen
        self._names = names
        self._text_width = left_width(shape_for(width, height), width) - GUTTER - SCROLLBAR
        self.head = verdict(chosen.diagnosis, self._text_width, is_reading=is_reading, state=state)
        if chosen.notice:
            self.head.append(fit((Span(chosen.notice, "stale"),), self._text_width))
        self.head = self.head[:height]
        self.cards, self.room = self._list(width, height)
        self.summary = self._summary()

    def detail(self) -> list[Block]:
        """The finding looked at in full."""
        chosen, width = self._chosen, self.room.detail_width - GUTTER
        if chosen.diagnosis is None:
            return []
        if chosen.finding is None:
            return nothing_found(chosen.diagnosis, width, self._names)
        return detail(chosen.diagnosis, chosen.finding, width, names=self._names)

    def _list(self, width: int, height: int) -> tuple[list[Block], Room]:
        """The richest list that leaves room for the rest."""
        axis = axis_word(self._chosen.diagnosis) if self._chosen.diagnosis is not None else ""
        shape = shape_for(width, height)
        most = 0 if shape is Shape.SMALL or height < TALL_ROWS else CARD_TITLE_LINES
        share_of_list = 3 if shape is Shape.STACKED else 2
        for lines in range(most, -1, -1):
            blocks = cards(self._chosen.pairs, self._text_width, axis, title_lines=lines)
            rows = sum(len(block.lines) for block in blocks)
            if lines == 0 or rows <= (height - len(self.head)) // share_of_list:
                break
        return blocks, share(width, height, len(self.head), rows)

    def _summary(self) -> list[Line]:
        diagnosis, height = self._chosen.diagnosis, self.room.summary_rows
        if diagnosis is None or not height:
            return []
        if self.room.shape is Shape.WIDE:
            return overview(diagnosis, self._text_width, height, self._names)
        rule: list[Line] = [(Span("─" * self._text_width, "quiet"),)]
        has_rule = height >= LEAST_FOR_RULE and bool(self._chosen.pairs)
        room = height - has_rule
        told = summary(diagnosis, self._chosen.finding, self._text_width, room, self._names)
        return [*(rule if has_rule else []), *told]

"""The whole conversation as blocks; a question that did not change is not laid out again."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from ..findings.blocks import Block, plain
from .talk import Stage
from .turn_blocks import turn_blocks
from .welcome import notice_block, stage_blocks, start_blocks, welcome

if TYPE_CHECKING:
    from .talk import Talk

MOST_COLUMNS = 120
"""Wider lines are hard to read."""
LEAST_COLUMNS = 20
_KEPT = "This is what the session has kept. To ask on, begin anew: Enter, or c"
_ANEW = "Ask anew: Enter, or c"


class Layout:
    """Lays a conversation out at some width, and remembers what it has laid out."""

    def __init__(self) -> None:
        self.unfolded: set[Hashable] = set()
        """What the user has opened."""
        self._talk: Talk | None = None
        self._made: dict[int, tuple[tuple[object, ...], list[Block]]] = {}

    def blocks(self, talk: Talk | None, width: int, notice: str = "") -> list[Block]:
        """Everything there is to see."""
        if talk is not self._talk:
            self._talk, self._made, self.unfolded = talk, {}, set()
        width = max(LEAST_COLUMNS, min(width, MOST_COLUMNS))
        found = [notice_block(notice, width)] if notice else []
        if talk is None or (not talk.turns and not talk.is_busy):
            found += welcome(width, can_ask=not notice)
            if talk is not None and talk.stage is not Stage.NONE:
                found = [*stage_blocks(talk, width), plain(()), *found]
            return found
        for number in range(len(talk.turns)):
            found += self._turn(talk, number, width)
        return [*found, *_end(talk, width, can_ask=not notice)]

    def fold(self, key: Hashable) -> None:
        """Open or close what is folded."""
        self.unfolded ^= {key}

    def _turn(self, talk: Talk, number: int, width: int) -> list[Block]:
        turn = talk.turns[number]
        key = ("turn", number)
        opened = frozenset(one for one in self.unfolded if isinstance(one, tuple) and one[0] == key)
        shape = (turn.version, width, opened, talk.model)
        known = self._made.get(number)
        if known is not None and known[0] == shape:
            return known[1]
        blocks = list(turn_blocks(turn, number, talk.about, talk.model, width, opened))
        self._made[number] = (shape, blocks)
        return blocks


def _end(talk: Talk, width: int, *, can_ask: bool) -> Iterator[Block]:
    """What can be done now."""
    if talk.stage in (Stage.PACKING, Stage.REFUSED, Stage.DECLINED):
        yield plain(())
        yield from stage_blocks(talk, width)
    if talk.is_busy or not can_ask:
        return
    if talk.is_kept:
        yield from start_blocks(_KEPT, width)
    elif not talk.can_follow_up:
        yield from start_blocks(_ANEW, width)

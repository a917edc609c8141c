"""Everything the pane shows at one size, laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mltd.sessions.model.checklist import Phase

from ..findings.blocks import Block
from .detail import detail
from .head import head
from .lines import unpadded
from .room import GUTTER, SCROLLBAR, share
from .rows import tree

if TYPE_CHECKING:
    from .folding import Folding
    from .pick import Pick
    from .saving import Saving
    from .shown import Shown


class Page:
    """Lays a session out for a size; the detail only if it is asked for."""

    def __init__(
        self, width: int, height: int, shown: Shown, saving: Saving, folding: Folding
    ) -> None:
        self._shown = shown
        self.head = head(shown.session, saving, width - GUTTER - SCROLLBAR, height)
        self.room = share(width, height, len(self.head))
        if not folding.is_begun:
            folding.begin(self._folded_at_first())
        folding.open(self._busy())
        self.rows = [unpadded(block) for block in self._tree(folding.folded)]

    def detail(self, pick: Pick | None) -> list[Block]:
        """The row looked at in full."""
        blocks = [] if pick is None else detail(self._shown, pick, self.room.detail_width)
        return [unpadded(block) for block in blocks]

    def _tree(self, folded: set[str]) -> list[Block]:
        room = self.room
        return tree(
            self._shown, folded, room.list_width, is_rich=room.is_rich, is_spoken=room.is_spoken
        )

    def _busy(self) -> set[str]:
        """Phases that are worked on."""
        session = self._shown.session
        busy = {session.phase.value}
        if (pick := self._shown.find(self._shown.suggested)) is not None:
            busy.add(pick.phase)
        if session.hypotheses:
            busy.add(Phase.HYPOTHESES.value)
        return busy

    def _folded_at_first(self) -> set[str]:
        """Phases that nobody works on, and for which there is no room besides."""
        everything = {phase.value for phase in Phase}
        opened = self._busy()
        for phase in Phase:
            more = opened | {phase.value}
            rows = sum(len(block.lines) for block in self._tree(everything - more))
            opened = more if rows <= self.room.list_rows else opened
        return everything - opened

"""The last notices in full, for those who missed one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ..notice_board import NoticeRecord
from ..widgets.notice_bar import line_of


class NoticesScreen(ModalScreen[None]):
    """A list of notices that scrolls, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,M", "dismiss", "Close", id="notices.close"),
        Binding("down,j", "scroll(1)", "Down", show=False, id="notices.down"),
        Binding("up,k", "scroll(-1)", "Up", show=False, id="notices.up"),
        Binding("pagedown,space", "page(1)", "Page down", show=False, id="notices.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="notices.page_up"),
    ]
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, notices: Sequence[NoticeRecord]) -> None:
        super().__init__()
        self._notices = tuple(notices)

    def compose(self) -> ComposeResult:
        """A box with one paragraph for each notice."""
        with Vertical(id="notice-list", classes="dialog") as box:
            box.border_title = "Notices"
            box.border_subtitle = "esc close"
            with VerticalScroll():
                yield Static(told(self._notices), markup=False)

    def action_scroll(self, lines: int) -> None:
        """Move by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_relative(y=pages * scroll.size.height, animate=False)


def told(notices: Sequence[NoticeRecord]) -> Content:
    """All notices with the time of each, the newest first."""
    if not notices:
        return Content("There was no notice yet.")
    return Content("\n").join(
        Content.assemble(
            (time.strftime("%H:%M:%S  ", time.localtime(notice.at)), "$quiet"), line_of(notice)
        )
        for notice in reversed(notices)
    )

"""The notices in sight: lines at the bottom of a screen, above its keys."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ..notice_board import NoticeRecord

GLYPHS = {"information": "●", "warning": "▲", "error": "✖"}
MEANINGS = {
    "information": "severity-info", "warning": "severity-warning", "error": "severity-critical"
}  # fmt: skip


class NoticeBar(Static):
    """Shows notices on the screens that have a place for them; dialogs have none."""

    class Clicked(Message):
        """The user has read them."""

    class Available(Message):
        """There is a place for notices now."""

    def __init__(self) -> None:
        super().__init__(id="notices", markup=False)

    def on_mount(self) -> None:
        """Ask for what is in sight."""
        self.post_message(self.Available())

    def show(self, notices: Sequence[NoticeRecord]) -> None:
        """Show these notices, one below the other; none: take no place."""
        self.set_class(bool(notices), "-shown")
        if notices:
            self.update(Content("\n").join(map(line_of, notices)))

    def on_click(self) -> None:
        """A click takes them out of sight."""
        self.post_message(self.Clicked())


def line_of(notice: NoticeRecord) -> Content:
    """A notice as one line, told apart by a glyph as well as by a colour."""
    meaning = MEANINGS[notice.severity]
    head = f"{GLYPHS[notice.severity]} "
    title = notice.title.removeprefix(head)
    text = notice.sentence.removeprefix(notice.title) if notice.title else notice.sentence
    return Content.assemble((f"{head}{title}", f"bold ${meaning}"), text)

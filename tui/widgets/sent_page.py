"""What would be sent: the facts about it, and below them the text itself."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..consent_text import LABEL_WIDTH, Fact
from ..findings.spans import Line, Span, hang, wrap
from ..palette import style
from ..pane import Pane
from ..sent_rows import Row, rows_of

NUMBERED_COLUMNS = 60
"""A narrower page has no room for line numbers."""
_RULE = "─"


class SentPage(Pane, ScrollView, can_focus=False):
    """Facts, then a text of any length; only the rows that are seen are drawn."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as widgets call it
        super().__init__(id=id)
        self._headline = ""
        self._facts: tuple[Fact, ...] = ()
        self._text = ""
        self._head: list[Line] = []
        self._rows: list[Row] = []
        self._digits = 0
        self._width = -1
        """For which all of it is laid out."""

    def show(self, headline: str, facts: Iterable[Fact], text: str) -> None:
        """Show something else; what is seen stays at its height."""
        self._headline, self._facts, self._text = headline, tuple(facts), text
        self._width = -1
        self._lay_out()

    @property
    def text_start(self) -> int:
        """The row with which the text begins, its title included."""
        return max(0, len(self._head) - 1)

    def on_resize(self, event: Resize) -> None:
        """Wrap everything anew."""
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width == self._width or not width:
            return
        self._width = width
        lines = self._text.count("\n") + 1
        self._digits = len(str(lines)) if width >= NUMBERED_COLUMNS else 0
        self._head = self._lay_out_head(width)
        self._rows = rows_of(self._text, width - self._gutter) if self._text else []
        self.virtual_size = Size(width, len(self._head) + len(self._rows))
        self.refresh()

    def _lay_out_head(self, width: int) -> list[Line]:
        head: list[Line] = [(Span(part, "heading"),) for part in wrap(self._headline, width)]
        for label, text in self._facts:
            head += hang((Span(f"{label:<{LABEL_WIDTH}}", "quiet"),), text, width)
        if self._text:
            title = f"{_RULE * 2} the evidence itself, word for word "
            head += [(), (Span(title + _RULE * (width - len(title)), "quiet"),)]
        return head

    @property
    def _gutter(self) -> int:
        return self._digits + 1 if self._digits else 0

    def render_line(self, y: int) -> Strip:
        """A fact, a row of the text, or nothing."""
        self._lay_out()
        base = self.rich_style
        number = y + self.scroll_offset.y
        if number < len(self._head):
            drawn = [Segment(text, self._look(meaning)) for text, meaning in self._head[number]]
        elif number - len(self._head) < len(self._rows):
            drawn = self._draw(self._rows[number - len(self._head)])
        else:
            drawn = []
        return Strip(drawn).adjust_cell_length(self._width).apply_style(base)

    def _draw(self, row: Row) -> list[Segment]:
        drawn = [Segment(row.text)]
        if self._digits:
            number = str(row.number) if row.number else ""
            drawn.insert(0, Segment(f"{number:>{self._digits}} ", self._look("log-number")))
        return drawn

    def _look(self, meaning: str) -> Style:
        if not meaning:
            return Style.null()
        bold = Style(bold=True) if meaning == "heading" else Style.null()
        return style(self.app, meaning) + bold

    # -- moving ------------------------------------------------------------------------------

    def move(self, rows: int) -> None:
        """Go so many rows further."""
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False)

    def turn(self, pages: int) -> None:
        """Go so many pages further, with a row of the last one."""
        self.move(pages * max(1, self.scrollable_content_region.height - 1))

    def go_to_end(self, *, is_last: bool) -> None:
        """Go to the first or to the last row."""
        self.scroll_to(y=self.max_scroll_y if is_last else 0, animate=False)

    def switch(self) -> None:
        """Go to the text, or from there back to the facts."""
        start = min(self.text_start, self.max_scroll_y)
        self.scroll_to(y=start if self.scroll_offset.y < start else 0, animate=False)

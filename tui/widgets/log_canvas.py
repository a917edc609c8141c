"""The surface of the log pane: lines, their numbers, marks, and where in the file they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import ClassVar, Concatenate, ParamSpec, Self, TypeVar, cast

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style

from mltd.runs.sources.text_lines import TextLine

from .. import palette
from ..log.changes import changed_cells
from ..log.painting import MARGIN, FindMatches, Painter, no_matches
from ..log.titles import Words
from ..log.viewport import Viewport
from ..log.window import LogLine, Window
from ..pane import Pane

P = TypeVar("P", bound=Pane)
G = ParamSpec("G")
NUMBERED_COLUMNS = 60
"""A narrower pane has no room for line numbers."""
MOST_REMEMBERED = 1000
"""Lines whose cells are kept."""


def guarded(method: Callable[Concatenate[P, G], None]) -> Callable[Concatenate[P, G], None]:
    """For what the event loop calls itself: what goes wrong in it is a notice."""

    @wraps(method)
    def call(self: P, *given: G.args, **named: G.kwargs) -> None:
        try:
            method(self, *given, **named)
        except Exception as error:  # noqa: BLE001 - a broken pane must not end the app
            self.report_failure(error)

    return cast("Callable[Concatenate[P, G], None]", call)


class LogCanvas(Pane):
    """Paints the lines of a viewport; only rows that changed are sent to the terminal."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"log--cursor", "log--thumb"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.viewport = Viewport(self._row_count)
        self.window: Window | None = None
        """What was read last; None before the first reading."""
        self.wraps = False
        self.left = 0
        """First column of the text that is seen when lines are not wrapped."""
        self.marked: set[int] = set()
        """Offsets of marked lines."""
        self.find_matches: FindMatches = no_matches
        self.placeholder = ""
        """What is said where no line is."""
        self.points_out = False
        """The current line is shown also if the pane has no focus."""
        self.rows_taken = 0
        """Rows at the bottom that something else covers."""
        self.frames = 0
        """How often anything was painted."""
        self._digits = 0
        self._painters: tuple[Painter, Painter] | None = None
        self._cells: dict[TextLine, list[Strip]] = {}
        self._strips: list[Strip] = []
        self._frame: dict[str, list[Words]] = {}
        self._dirty_frame: Region | None = None

    @property
    def rows(self) -> int:
        """Rows that lines can be shown in."""
        return max(1, self.size.height - self.rows_taken)

    @property
    def text_columns(self) -> int:
        """Columns that the text of a line can be shown in."""
        return max(1, self.size.width - self._gutter_width - MARGIN)

    def repaint(self, *, anew: bool = False) -> None:
        """Bring the screen up to date; `anew` if the same lines look different now."""
        if anew:
            self._cells.clear()
            self._painters = None
        if not self.size.width or not self.is_attached:
            return
        painted = self._paint()
        changed = [
            Region(0, y, width, 1)
            for y, strip in enumerate(painted)
            if (width := changed_cells(self._strips[y] if y < len(self._strips) else None, strip))
        ]
        self._strips = painted
        if changed:
            self.frames += 1
            self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        """One row, as it was painted."""
        if len(self._strips) != self.size.height:
            # The first picture is drawn before anybody is told of the size.
            self.use_rows()
        if self._painters is None or len(self._strips) != self.size.height:
            self._strips = self._paint()
        if y < len(self._strips):
            return self._strips[y]
        return Strip.blank(self.size.width, self.rich_style)

    def use_rows(self) -> None:
        """There is room for another number of rows."""
        self.viewport.height = self.rows

    def notify_style_update(self) -> None:
        """Another theme, or the focus came or went."""
        self._painters = None
        self._cells.clear()
        self._frame.clear()
        super().notify_style_update()

    def set_frame(self, side: str, words: list[Words]) -> None:
        """Write into the border (`title` or `subtitle`), and repaint no more than that."""
        if self._frame.get(side) == words:
            return
        self._frame[side] = words
        row = -1 if side == "title" else self.size.height
        parts = [
            (text, Style.from_rich_style(palette.style(self.app, meaning)))
            for text, meaning in words
        ]
        self._dirty_frame = Region(-1, row, self.outer_size.width, 1)
        try:
            setattr(self, f"border_{side}", Content.assemble(*parts) if parts else None)
        finally:
            self._dirty_frame = None

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Setting a title would repaint everything; that row is enough."""
        if self._dirty_frame is not None:
            regions = (self._dirty_frame,)
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    # -- painting ---------------------------------------------------------------------------

    def _paint(self) -> list[Strip]:
        self.viewport.height = self.rows
        plain, current = self._look()
        if not self.viewport.lines:
            return self._paint_placeholder(plain)
        self._widen_gutter()
        strips: list[Strip] = []
        visible = self.viewport.visible()
        thumb = self._thumb([line for line, _row in visible])
        cursor = self.viewport.cursor if self.has_focus or self.points_out else -1
        pointed = self._paint_line(current, self.viewport.lines[cursor]) if cursor >= 0 else []
        for y, (index, row) in enumerate(visible):
            line = self.viewport.lines[index]
            is_current = index == cursor
            painter = current if is_current else plain
            cells = pointed if is_current else self._remembered(line)
            gutter = self._gutter(painter, line, row, is_current=is_current)
            text = cells[min(row, len(cells) - 1)]
            if y in thumb:
                text = self._with_thumb(plain, text)
            strips.append(Strip.join([gutter, text]))
        blank = Strip.blank(self.size.width, plain.background)
        return strips + [blank] * (self.size.height - len(strips))

    def _look(self) -> tuple[Painter, Painter]:
        """Painters for ordinary lines and for the current one."""
        if self._painters is None:
            background = RichStyle(bgcolor=self.rich_style.bgcolor)
            cursor = background + self.get_component_rich_style("log--cursor", partial=True)

            def styles(meaning: str) -> RichStyle:
                return palette.style(self.app, meaning)

            self._painters = Painter(styles, background), Painter(styles, cursor)
        return self._painters

    def _remembered(self, line: LogLine) -> list[Strip]:
        cells = self._cells.get(line.line)
        if cells is None:
            if len(self._cells) > MOST_REMEMBERED:
                self._cells.clear()
            cells = self._cells[line.line] = self._paint_line(self._look()[0], line)
        return cells

    def _paint_line(self, painter: Painter, line: LogLine) -> list[Strip]:
        if self.wraps:
            return painter.rows(line.line, self.find_matches, self.text_columns)
        return [painter.row(line.line, self.find_matches, self.left, self.text_columns)]

    def _row_count(self, line: LogLine) -> int:
        return len(self._remembered(line)) if self.wraps and self.size.width else 1

    @property
    def _gutter_width(self) -> int:
        return 1 + (self._digits + 1 if self._digits else 0)

    def _widen_gutter(self) -> None:
        """Room for the highest number there will be, so that the text does not move about."""
        window = self.window
        if window is None or self.size.width < NUMBERED_COLUMNS:
            digits = 0
        else:
            count = window.line_count
            if not window.is_counted and window.counted > window.start:
                share = (window.counted - window.start) / (window.size - window.start)
                count = int(count / share)
            elif not window.is_counted:
                seen = self.viewport.lines[-1].line.end - self.viewport.lines[0].offset
                count = len(self.viewport.lines) * (window.size - window.start) // max(1, seen)
            digits = max(self._digits, 4, len(str(count)))
        if digits != self._digits:
            self._digits = digits
            self._cells.clear()

    def _gutter(self, painter: Painter, line: LogLine, row: int, *, is_current: bool) -> Strip:
        sign, meaning = " ", "log-number"
        if row == 0 and line.offset in self.marked:
            sign, meaning = "◆", "log-mark"
        elif row == 0 and is_current:
            sign = "▸"
        number = "" if row or line.number is None else str(line.number)
        text = f"{number:>{self._digits}} " if self._digits else ""
        if meaning == "log-number":
            return Strip([Segment(sign + text, painter.style(meaning))])
        segments = [Segment(sign, painter.style(meaning))]
        if text:
            segments.append(Segment(text, painter.style("log-number")))
        return Strip(segments)

    def _with_thumb(self, painter: Painter, text: Strip) -> Strip:
        style = painter.background + self.get_component_rich_style("log--thumb", partial=True)
        return Strip.join([text.crop(0, text.cell_length - 1), Strip([Segment("▐", style)])])

    def _thumb(self, visible: Sequence[int]) -> range:
        """Rows at the edge that show which part of the file is on the screen."""
        window, lines = self.window, self.viewport.lines
        if window is None or window.size <= window.start or not visible:
            return range(0)
        total = window.size - window.start
        first = (lines[visible[0]].offset - window.start) / total
        last = (lines[visible[-1]].line.end - window.start) / total
        if first <= 0 and last >= 1 and self.viewport.skip == 0 and self.viewport.reaches_end:
            return range(0)
        top = min(int(first * self.rows), self.rows - 1)
        if last >= 1:
            top = min(top, self.rows - 1)
            return range(top, self.rows)
        return range(top, min(self.rows, max(top + 1, round(last * self.rows))))

    def _paint_placeholder(self, painter: Painter) -> list[Strip]:
        width, height = self.size
        blank = Strip.blank(width, painter.background)
        strips = [blank] * height
        words = self.placeholder[: max(0, width)]
        text = Segment(words, painter.style("quiet"))
        middle = max(0, (self.rows - 1) // 2)
        left = Segment(" " * ((width - Segment.get_line_length([text])) // 2), painter.background)
        strips[middle : middle + 1] = [
            Strip([left, text]).adjust_cell_length(width, painter.background)
        ]
        return strips

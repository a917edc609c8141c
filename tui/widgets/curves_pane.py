"""The curves of a run: charts in a grid, with a cursor, marks, zoom, smoothing and overlays."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Hide, Resize, Show
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from .. import palette
from ..curves.board import Board
from ..curves.cursor import Cursor
from ..curves.layout import Box
from ..curves.rows import Row, changed_columns, fitted, width_of
from ..curves.scene import Scene
from ..engine.curve_protocol import CurveRequest, Curves
from ..engine.protocol import SeriesInfo
from ..pane import Pane
from ..screens.metric_picker import MetricPicker

_PERIOD = 0.5
"""Seconds between pictures while data stream in."""
_ZOOM = 2.0
_PAN = 0.25
_BOLD = Style(bold=True)


class CurvesPane(Pane, can_focus=True):
    """Shows the metrics of a run; says which data it needs and where the user points."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "select(-1)", "Previous chart", show=False, id="curves.previous"),
        Binding("down,j", "select(1)", "Next chart", show=False, id="curves.next"),
        Binding("left,h", "move(-1)", "Cursor left", show=False, id="curves.left"),
        Binding("right,l", "move(1)", "Cursor right", show=False, id="curves.right"),
        Binding("home", "move_to_end(-1)", "Cursor to the start", show=False, id="curves.start"),
        Binding("end", "move_to_end(1)", "Cursor to the end", show=False, id="curves.end"),
        Binding("n", "mark(1)", "Next mark", show=False, id="curves.next_mark"),
        Binding("N", "mark(-1)", "Previous mark", show=False, id="curves.previous_mark"),
        Binding("enter", "open_line", "Log line at the cursor", show=False, id="curves.line"),
        Binding("escape", "hide_cursor", "Hide the cursor", show=False, id="curves.hide_cursor"),
        Binding("y", "scale", "Log scale", id="curves.scale"),
        Binding("s", "smooth", "Smooth", id="curves.smooth"),
        Binding("m", "pick", "Metrics", id="curves.pick"),
        Binding("a", "axis", "Axis", id="curves.axis"),
        Binding("plus,equals_sign", "zoom(1)", "Zoom in", show=False, id="curves.zoom_in"),
        Binding("minus,underscore", "zoom(-1)", "Zoom out", show=False, id="curves.zoom_out"),
        Binding("0", "reset", "Whole axis", show=False, id="curves.whole"),
        Binding("shift+left,H", "pan(-1)", "Pan left", show=False, id="curves.pan_left"),
        Binding("shift+right,L", "pan(1)", "Pan right", show=False, id="curves.pan_right"),
    ]

    @dataclass
    class Wanted(Message):
        """The pane needs these data from now on; a request without series ends its ticket."""

        request: CurveRequest

    @dataclass
    class LineWanted(Message):
        """The user wants to see the log line of this point."""

        run: int
        key: str
        axis: str
        x: float

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.border_title = "curves"
        self.is_over = False
        """The run will not log more than it did."""
        self._board = Board()
        self._scene = Scene(self._board)
        self._shown: list[tuple[Box, list[Row]]] = []
        self._rows: list[Row] = []
        self._styles_now: dict[str, Style] = {}
        self._drawn_at = float("-inf")
        self._waiting: Timer | None = None
        self._is_hidden = False

    # -- facts from outside

    @property
    def is_ascii(self) -> bool:
        """Draw with stars instead of braille."""
        return self._scene.is_ascii

    @is_ascii.setter
    def is_ascii(self, is_ascii: bool) -> None:
        self._scene.is_ascii = is_ascii
        self._redraw()

    @property
    def axis(self) -> str:
        """What the x axis counts; empty as long as there is no metric."""
        return self._board.axis

    def set_series(self, run: int, name: str, series: tuple[SeriesInfo, ...]) -> None:
        """The metrics of the run to show; what the user chose stays."""
        is_new = run != self._board.run[0] or not self._board.charts
        if run != self._board.run[0]:
            self._scene.cursor = None
        self._board.set_series((run, name, series))
        if is_new:
            self._redraw()
        else:
            self._redraw_soon()

    def set_overlay(self, runs: tuple[tuple[int, str, tuple[SeriesInfo, ...]], ...]) -> None:
        """Other runs to draw over the same charts."""
        is_new = [run[0] for run in runs] != [run[0] for run in self._board.overlay]
        self._board.set_overlay(runs)
        if is_new:
            self._redraw()
        else:
            self._redraw_soon()

    def set_curves(self, curves: Curves) -> None:
        """Data that were wanted; more of them may come later."""
        was_blank = self._board.is_awaited(curves.ticket)
        if self._board.set_curves(curves):
            if was_blank:
                self._redraw()
            else:
                self._redraw_soon()

    def last_requests(self) -> list[CurveRequest]:
        """What ends everything that was asked for, when the pane is not shown any more."""
        return list(self._board.requests(is_shown=False))

    def show_x(self, axis: str, x: float) -> None:
        """Put the cursor at a place of an axis."""
        self._board.set_axis(axis)
        if axis == self._board.axis:
            self._scene.cursor = Cursor(x)
            self._scene.follow_cursor()
            self._redraw()

    def choose(self, key: str) -> None:
        """Show a metric, and select its chart."""
        self._board.choose(key)
        self._redraw()

    # -- keys

    def action_select(self, move: int) -> None:
        """Select the next or previous chart."""
        self._board.select(move)
        self._redraw()

    def action_move(self, direction: int) -> None:
        """Move the cursor, or show it."""
        self._scene.move(direction)
        self._redraw()

    def action_move_to_end(self, direction: int) -> None:
        """Move the cursor to the first or last point in sight."""
        self._scene.move_to_end(direction)
        self._redraw()

    def action_mark(self, direction: int) -> None:
        """Move the cursor to the next or previous mark."""
        self._scene.move_to_mark(direction)
        self._redraw()

    def action_hide_cursor(self) -> None:
        """Show last values again instead of those at the cursor."""
        self._scene.cursor = None
        self._redraw()

    def action_open_line(self) -> None:
        """Ask for the log line of the point under the cursor."""
        cursor, board = self._scene.cursor, self._board
        if cursor is not None and board.charts:
            line = board.charts[board.selected].lines[0]
            self.post_message(self.LineWanted(line.run, line.key, board.axis, cursor.x))

    def action_scale(self) -> None:
        """Switch the selected chart between a linear and a logarithmic axis."""
        self._board.turn_scale()
        self._redraw()

    def action_smooth(self) -> None:
        """Smooth more; after the strongest, not at all."""
        self._board.turn_smoothing()
        self._redraw()

    def action_axis(self) -> None:
        """Draw over the next axis."""
        self._board.turn_axis()
        self._scene.cursor = None
        self._redraw()

    def action_zoom(self, direction: int) -> None:
        """Look closer at the cursor, or from further away."""
        extent, cursor = self._board.extent, self._scene.cursor
        if extent is not None:
            factor = _ZOOM if direction > 0 else 1 / _ZOOM
            centre = cursor.x if cursor is not None else None
            self._board.window = self._board.window.zoomed(extent, factor, centre)
            self._redraw()

    def action_pan(self, direction: int) -> None:
        """Move the zoomed window."""
        extent = self._board.extent
        if extent is not None:
            self._board.window = self._board.window.panned(extent, direction * _PAN)
            self._redraw()

    def action_reset(self) -> None:
        """Show the whole axis."""
        self._board.window = type(self._board.window)()
        self._redraw()

    def action_pick(self) -> None:
        """Choose the metrics to draw."""
        if not self._board.series:
            self.notify("This run has no metrics to choose from.", timeout=3, markup=False)
        else:
            picker = MetricPicker(self._board.series, self._board.visible_keys)
            self.app.push_screen(picker, self._take_choice)

    def _take_choice(self, keys: frozenset[str] | None) -> None:
        if keys is None:
            return
        shown = self._board.visible_keys
        for key in [s.key for s in self._board.series if (s.key in shown) != (s.key in keys)]:
            self._board.choose(key, is_wanted=key in keys)
        self._redraw()

    # -- drawing

    def on_resize(self, event: Resize) -> None:
        """Another size means other charts and other data."""
        self._redraw()

    def on_hide(self, event: Hide) -> None:
        """Out of sight: nothing is needed."""
        self._is_hidden = True
        self._ask()

    def on_show(self, event: Show) -> None:
        """In sight again."""
        self._is_hidden = False
        self._redraw()

    def notify_style_update(self) -> None:
        """A new theme needs new colours, not new pictures."""
        super().notify_style_update()
        self._styles_now.clear()

    def _redraw_soon(self) -> None:
        """Draw at once if the last picture is old enough, else when it is."""
        if self._waiting is not None:
            return
        left = self._drawn_at + _PERIOD - time.monotonic()
        if left <= 0:
            self._redraw()
        elif self.is_running:
            self._waiting = self.set_timer(left, self._redraw)

    def _redraw(self) -> None:
        """Draw now, and repaint the stretches of rows that changed."""
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        size = self.content_size
        if not self.is_mounted or self._is_hidden or not size:
            return
        self._drawn_at = time.monotonic()
        self._board.resize(size.width, size.height - 1)
        self._ask()
        rows = self._composed(size.width, size.height)
        if len(rows) != len(self._rows):
            self._rows = rows
            self.refresh()
            return
        changes = [changed_columns(*pair) for pair in zip(self._rows, rows, strict=True)]
        self._rows = rows
        regions = [Region(c[0], y, c[1] - c[0], 1) for y, c in enumerate(changes) if c]
        if regions:
            self.refresh(*regions)

    def _ask(self) -> None:
        for request in self._board.requests(is_shown=not self._is_hidden):
            self.post_message(self.Wanted(request))

    def _composed(self, width: int, height: int) -> list[Row]:
        if not self._board.charts:
            said = "no metrics in this run" if self.is_over else "no metrics yet"
            return [fitted([], width)] * (height // 2) + [_calm(said, width)]
        bands: dict[int, list[tuple[int, Row]]] = {}
        for box, rows in self._scene.faces():
            for y, row in enumerate(rows, box.y):
                bands.setdefault(y, []).append((box.x, row))
        rows = [_joined(bands.get(y, []), width) for y in range(height - 1)]
        return [*rows, fitted(self._scene.status(width), width)]

    def render_line(self, y: int) -> Strip:
        """One row in the colours of the theme."""
        if y >= len(self._rows):
            return Strip.blank(self.content_size.width, self.rich_style)
        segments = [Segment(text, self._style(meaning)) for text, meaning in self._rows[y]]
        return Strip(segments, width_of(self._rows[y]))

    def _style(self, meaning: str) -> Style:
        style = self._styles_now.get(meaning)
        if style is None:
            name = meaning.removeprefix("!")
            style = self.rich_style + (palette.style(self.app, name) if name else Style())
            style = style + _BOLD if meaning != name else style
            self._styles_now[meaning] = style
        return style


def _joined(parts: list[tuple[int, Row]], width: int) -> Row:
    bits: list[tuple[str, str]] = []
    at = 0
    for x, row in sorted(parts):
        if x > at:
            bits.append((" " * (x - at), ""))
        bits += row
        at = x + width_of(row)
    return fitted(bits, width)


def _calm(text: str, width: int) -> Row:
    return fitted([(" " * max(0, (width - len(text)) // 2) + text, "quiet")], width)

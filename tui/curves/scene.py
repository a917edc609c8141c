"""The whole pane as rows: every chart in sight, and the read-out or strip below them."""

from __future__ import annotations

from ..engine.curve_protocol import Curves, Mark
from .board import Board
from .chart_list import Chart, Line
from .cursor import Cursor, moved, to_mark
from .drawing import Canvas, Look, column_of, draw
from .face import Pointer, Sheet, plot_size, rows_of
from .layout import Box
from .numbers import axis_word, compact, place
from .readout import Reading, places, reading_at, reading_text
from .rows import Row
from .smoothing import SHARES
from .status import Value, readout_row, strip_row

_Drawn = tuple[Curves | None, tuple[Line, ...], Look, int, int]


class Scene:
    """A board with a cursor, drawn; pictures are kept until something in them changes."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.cursor: Cursor | None = None
        self.is_ascii = False
        self._canvases: dict[str, tuple[_Drawn, Canvas]] = {}

    # -- cursor

    def move(self, direction: int) -> None:
        """One column to the left or right, as far as there are points."""
        chart, box = self._selected()
        seen = self.board.seen
        if chart is None or box is None or seen is None:
            return
        curves = [curve for _, curve in self.board.curves_of(chart)]
        columns = plot_size(box.width, box.height)[0]
        self.cursor = moved(self.cursor, places(curves, *seen), seen, columns, direction)

    def move_to_end(self, direction: int) -> None:
        """To the first or last point in sight."""
        self.cursor = None
        self.move(-direction)

    def move_to_mark(self, direction: int) -> None:
        """To the next or previous mark of the selected chart, wherever it is."""
        chart, _ = self._selected()
        if chart is not None:
            self.cursor = to_mark(self.cursor, self.board.marks_of(chart), direction)
            self.follow_cursor()

    def follow_cursor(self) -> None:
        """Move the window to the cursor if that is out of sight."""
        extent = self.board.extent
        if self.cursor is not None and extent is not None:
            self.board.window = self.board.window.reaching(extent, self.cursor.x)

    def _selected(self) -> tuple[Chart | None, Box | None]:
        if not self.board.charts:
            return None, None
        chart = self.board.charts[self.board.selected]
        return chart, next((box for c, box in self.board.placed() if c.key == chart.key), None)

    # -- drawing

    def faces(self) -> list[tuple[Box, list[Row]]]:
        """The charts in sight, each as rows in its box."""
        placed = self.board.placed()
        kept = {chart.key for chart, _ in placed}
        self._canvases = {k: v for k, v in self._canvases.items() if k in kept}
        selected = self.board.charts[self.board.selected].key if placed else ""
        is_lone = len(placed) == 1
        return [
            (box, self._face(chart, box, is_selected=chart.key == selected and not is_lone))
            for chart, box in placed
        ]

    def _face(self, chart: Chart, box: Box, *, is_selected: bool) -> list[Row]:
        board = self.board
        low, high = board.seen or (0.0, 0.0)
        is_log = chart.key in board.logarithmic
        share = SHARES[board.smoothing]
        look = Look(low, high, is_log, share, chart.is_from_zero, self.is_ascii)
        columns, lines = plot_size(box.width, box.height)
        canvas = self._canvas(chart, look, columns, lines) if high > low else None
        readings = self._readings(chart, columns)
        values = tuple(self._value(line, readings.get(line)) for line in chart.lines)
        sheet = Sheet(
            chart,
            board.axis,
            look,
            canvas,
            values,
            board.marks_of(chart),
            self._pointer(readings),
            is_selected,
            self._message(chart, canvas),
        )
        return rows_of(sheet, box.width, box.height)

    def _value(self, line: Line, reading: Reading | None) -> str:
        if self.cursor is None:
            return compact(line.last)
        return "-" if reading is None else compact(reading.value)

    def _canvas(self, chart: Chart, look: Look, columns: int, lines: int) -> Canvas:
        key = (self.board.answer(chart), chart.lines, look, columns, lines)
        kept = self._canvases.get(chart.key)
        if kept is not None and kept[0][0] is key[0] and kept[0][2:] == key[2:]:
            return kept[1]
        curves = [(curve, line.colour) for line, curve in self.board.curves_of(chart)]
        canvas = draw(curves, look, columns, lines)
        self._canvases[chart.key] = (key, canvas)
        return canvas

    def _pointer(self, readings: dict[Line, Reading]) -> Pointer | None:
        if self.cursor is None:
            return None
        here = tuple((line.colour, r.value) for line, r in readings.items() if r.is_here)
        return Pointer(self.cursor.x, here)

    def _readings(self, chart: Chart, columns: int) -> dict[Line, Reading]:
        seen = self.board.seen
        if self.cursor is None or seen is None:
            return {}
        reach = (seen[1] - seen[0]) / columns
        found: dict[Line, Reading] = {}
        for line, curve in self.board.curves_of(chart):
            reading = reading_at(curve, self.cursor.x, reach)
            if reading is not None:
                found[line] = reading
        return found

    def _message(self, chart: Chart, canvas: Canvas | None) -> str:
        axis = self.board.axis
        if not any(axis in line.axes for line in chart.lines):
            return f"not logged over {axis_word(axis)}"
        answer = self.board.answer(chart)
        if answer is None:
            return "reading"
        if answer.extent is None or canvas is None:
            return "no points yet"
        if canvas.scale is None:
            points = any(one.x for curve in answer.curves for one in curve.passes)
            return "no value that can be drawn" if canvas.gaps or points else "no points here"
        return ""

    # -- the row below

    def status(self, width: int) -> Row:
        """The read-out if there is a cursor, else the names of the charts and the settings."""
        chart, box = self._selected()
        if chart is None:
            return ()
        if self.cursor is not None and box is not None:
            columns = plot_size(box.width, box.height)[0]
            readings = self._readings(chart, columns)
            full, brief = (self._told(chart, readings, is_full=full) for full in (True, False))
            where = place(self.board.axis, self.cursor.x)
            return readout_row(where, full, brief, self._marks_here(chart, columns), width)
        titles = [c.title for c in self.board.charts]
        are_all_shown = len(self.board.placed()) == len(titles)
        return strip_row(titles, self.board.selected, are_all_shown, self._settings(), width)

    def _told(self, chart: Chart, readings: dict[Line, Reading], *, is_full: bool) -> list[Value]:
        told: list[Value] = []
        for line in chart.lines:
            reading = readings.get(line)
            text = reading_text(reading, is_full=is_full)
            if is_full and reading is not None and not reading.is_here:
                text += f" @{self._bare_place(reading.x)}"
            told.append((f"{line.run_name} {line.label}".strip(), line.colour, text))
        return told

    def _bare_place(self, x: float) -> str:
        return place(self.board.axis, x).removeprefix(f"{self.board.axis} ")

    def _marks_here(self, chart: Chart, columns: int) -> list[Mark]:
        cursor, seen = self.cursor, self.board.seen
        marks = self.board.marks_of(chart)
        if cursor is None or seen is None:
            return []
        if 0 <= cursor.mark < len(marks) and marks[cursor.mark].x == cursor.x:
            return [marks[cursor.mark]]
        here = column_of(cursor.x, *seen, columns)
        return [mark for mark in marks if column_of(mark.x, *seen, columns) == here]

    def _settings(self) -> list[str]:
        board = self.board
        told = [f"x {axis_word(board.axis)}"] if board.axis else []
        if board.smoothing != "off":
            told.append(f"smooth {board.smoothing}")
        extent, seen = board.extent, board.seen
        if extent and seen and not board.window.is_whole:
            times = (extent[1] - extent[0]) / ((seen[1] - seen[0]) or 1.0)
            following = ", follows" if board.window.is_following else ""
            told.append(f"zoom {max(1.0, times):,.3g}x{following}")
        return told

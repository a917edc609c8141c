"""What the user looks at: which charts, over which stretch of which axis, and the data for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ..engine.curve_protocol import Curve, CurveRequest, Curves, Mark
from ..engine.protocol import SeriesInfo
from .chart_list import Chart, Line, Run, charts_of
from .face import plot_size
from .layout import Box, arrange, capacity, first_shown
from .smoothing import SHARES
from .window import Extent, Window

AXES = ("step", "epoch", "time", "tokens", "samples", "index")
_tickets = count(1)


class Board:
    """Charts, their data and the wishes of the user; knows no terminal."""

    def __init__(self) -> None:
        self.run: Run = (-1, "", ())
        self.overlay: tuple[Run, ...] = ()
        self.charts: list[Chart] = []
        self.chosen: dict[str, bool] = {}
        self.axis = ""
        self.window = Window()
        self.smoothing = "off"
        self.logarithmic: set[str] = set()
        self._selected = ""
        self._first = 0
        self._size = (0, 0)
        self._tickets: dict[str, int] = {}
        self._sent: dict[str, CurveRequest] = {}
        self._answers: dict[str, Curves] = {}
        self._all_marks: dict[str, tuple[Mark, ...]] = {}
        """Marks of the whole axis: answers for a part of it have those of the part alone."""
        self._ended: list[int] = []

    # -- facts

    def set_series(self, run: Run) -> None:
        """The metrics of the run; another run starts with the whole axis."""
        if run[0] != self.run[0]:
            self.window = Window()
            self._forget()
            self._sent.clear()
            # New tickets, so that a late answer for the former run finds no chart.
            self._ended += self._tickets.values()
            self._tickets.clear()
        self.run = run
        self._rebuild()

    def set_overlay(self, overlay: tuple[Run, ...]) -> None:
        """Other runs to draw over the same charts."""
        self.overlay = overlay
        self._rebuild()

    def set_curves(self, curves: Curves) -> bool:
        """Take an answer; False if nobody waits for it any more."""
        key = next((k for k, ticket in self._tickets.items() if ticket == curves.ticket), None)
        if key is None or curves.axis != self.axis:
            return False
        self._answers[key] = curves
        if self.window.is_whole:
            self._all_marks[key] = curves.marks
        return True

    def is_awaited(self, ticket: int) -> bool:
        """True if the chart of this ticket has nothing to draw yet."""
        return any(t == ticket and k not in self._answers for k, t in self._tickets.items())

    def resize(self, width: int, height: int) -> None:
        """The room for charts."""
        self._size = (width, height)

    def _forget(self) -> None:
        self._answers.clear()
        self._all_marks.clear()

    def _rebuild(self) -> None:
        self.charts = charts_of(self.run, self.overlay, self.chosen)
        if self.axis not in self.axes:
            self.axis = self.axes[0] if self.axes else ""
            self.window = Window()
            self._forget()
        if self._selected not in (c.key for c in self.charts):
            self._selected = self.charts[0].key if self.charts else ""

    # -- wishes

    def choose(self, key: str, *, is_wanted: bool = True) -> None:
        """Show a metric, or do not."""
        self.chosen[key] = is_wanted
        self._rebuild()
        if is_wanted:
            holding = (c.key for c in self.charts if (self.run[0], key) in _pairs(c))
            self._selected = next(holding, self._selected)

    def select(self, move: int) -> None:
        """Select another chart."""
        if self.charts:
            place = (self.selected + move) % len(self.charts)
            self._selected = self.charts[place].key

    def turn_axis(self) -> None:
        """Draw over the next axis that the metrics have."""
        if len(self.axes) > 1:
            self.set_axis(self.axes[(self.axes.index(self.axis) + 1) % len(self.axes)])

    def set_axis(self, axis: str) -> None:
        """Draw over this axis, all of it."""
        if axis != self.axis and axis in self.axes:
            self.axis = axis
            self.window = Window()
            self._forget()

    def turn_smoothing(self) -> None:
        """Smooth more, or not at all after the most."""
        names = list(SHARES)
        self.smoothing = names[(names.index(self.smoothing) + 1) % len(names)]

    def turn_scale(self) -> None:
        """Linear or logarithmic y axis for the selected chart."""
        self.logarithmic ^= {self._selected}

    # -- what to show

    @property
    def selected(self) -> int:
        """Place of the selected chart."""
        return next((i for i, c in enumerate(self.charts) if c.key == self._selected), 0)

    @property
    def axes(self) -> list[str]:
        """The axes over which at least one chart can be drawn, in fixed order."""
        lines = [line for chart in self.charts for line in chart.lines]
        best = {line.axes[0] for line in lines[:1] if line.axes}
        known = {axis for line in lines for axis in line.axes}
        ordered = [axis for axis in AXES if axis in known]
        # The best axis of the first metric is where the cycle starts.
        return sorted(ordered, key=lambda axis: axis not in best)

    @property
    def visible_keys(self) -> frozenset[str]:
        """Metrics of the run that are in some chart."""
        pairs = (pair for chart in self.charts for pair in _pairs(chart))
        return frozenset(key for number, key in pairs if number == self.run[0])

    @property
    def series(self) -> tuple[SeriesInfo, ...]:
        """The metrics of the run."""
        return self.run[2]

    def placed(self) -> list[tuple[Chart, Box]]:
        """The charts in sight and where they are."""
        room = min(capacity(*self._size), len(self.charts))
        if not room or min(self._size) < 1:
            return []
        self._first = first_shown(len(self.charts), room, self.selected, self._first)
        shown = self.charts[self._first : self._first + room]
        return list(zip(shown, arrange(room, *self._size), strict=True))

    @property
    def extent(self) -> Extent | None:
        """How far the axis reaches in all the charts."""
        known = [a.extent for a in self._answers.values() if a.extent is not None]
        return (min(e[0] for e in known), max(e[1] for e in known)) if known else None

    @property
    def seen(self) -> Extent | None:
        """The visible stretch of the axis."""
        return self.window.seen(self.extent) if self.extent else None

    def answer(self, chart: Chart) -> Curves | None:
        """The data of a chart, if they have come."""
        return self._answers.get(chart.key)

    def curves_of(self, chart: Chart) -> list[tuple[Line, Curve]]:
        """The lines of a chart that have data."""
        answer = self.answer(chart)
        found = {(c.run, c.key): c for c in answer.curves} if answer else {}
        pairs = ((line, found.get((line.run, line.key))) for line in chart.lines)
        return [(line, curve) for line, curve in pairs if curve is not None]

    def marks_of(self, chart: Chart) -> tuple[Mark, ...]:
        """What happened, left to right."""
        answer = self.answer(chart)
        known = (*self._all_marks.get(chart.key, ()), *answer.marks) if answer else ()
        return tuple(sorted(dict.fromkeys(known), key=lambda m: m.x))

    # -- what to ask for

    def requests(self, *, is_shown: bool = True) -> Iterator[CurveRequest]:
        """What must be asked for now that was not yet; an empty one ends a ticket."""
        wanted = {c.key: (c, box) for c, box in self.placed() if self._asked(c)} if is_shown else {}
        for ticket in self._ended:
            yield CurveRequest(ticket, ())
        self._ended = []
        for key in [k for k in self._sent if k not in wanted]:
            yield CurveRequest(self._tickets.pop(key), (), self._sent.pop(key).axis)
        low, high = self.seen or (None, None)
        for key, (chart, box) in wanted.items():
            ticket = self._tickets.setdefault(key, next(_tickets))
            columns = plot_size(box.width, box.height)[0]
            request = CurveRequest(ticket, self._asked(chart), self.axis, low, high, 2 * columns)
            if self._sent.get(key) != request:
                self._sent[key] = request
                yield request

    def _asked(self, chart: Chart) -> tuple[tuple[int, str], ...]:
        return tuple((n.run, n.key) for n in chart.lines if self.axis in n.axes)


def _pairs(chart: Chart) -> list[tuple[int, str]]:
    return [(line.run, line.key) for line in chart.lines]

"""The runs of the picker, one line each."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message

from ..cells import fitted, fitted_middle, fitted_right
from ..engine.protocol import Health, RunRow
from ..palette import style
from ..quantities import short_age, short_count, short_value
from ..run_list import Heading, Line, state_word
from ..sparkline import BAD, sparkline
from .line_table import LineTable

HEALTH_GLYPHS = {
    Health.CRITICAL: "✖",
    Health.WARNING: "▲",
    Health.INFO: "●",
    Health.FINE: "✔",
    Health.UNKNOWN: "?",
}
_STATES = {
    "running": ("▶", "severity-info"),
    "finished": ("✔", "severity-fine"),
    "failed": ("✖", "severity-critical"),
    "stalled": ("■", "severity-warning"),
    "unknown": ("?", "quiet"),
}


@dataclass(frozen=True, slots=True)
class RunColumns:
    """How wide each column is; 0 for one that there is no room for."""

    name: int
    state: int
    progress: int
    loss: int
    trend: int
    age: int
    headline: int
    gap: int


def lay_out(width: int, longest_name: int) -> RunColumns:
    """Columns for a width: all of them from 72 on, and the longer ones longer from 110 on."""
    gap = 1 if width < 110 else 2
    trend = 24 if width >= 150 else 12 if width >= 110 else 8 if width >= 72 else 0
    progress = 15 if width >= 110 else 10
    fixed = 3 + 10 + progress + 7 + trend + 4 + gap * (4 if not trend else 5)
    room = max(8, width - fixed)
    # A name is known by its ends, a finding only by most of its words.
    name = min(max(longest_name, 8), max(8, room - gap - max(12, room // 2 - 2)))
    if room - gap - name < 10:
        return RunColumns(room, 10, progress, 7, trend, 4, 0, gap)
    return RunColumns(name, 10, progress, 7, trend, 4, room - gap - name, gap)


class RunTable(LineTable):
    """Runs to choose from; typing is left to the screen around it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", id="picker.open"),
        Binding("ctrl+n", "move(1)", "Down", id="picker.down", show=False),
        Binding("ctrl+p", "move(-1)", "Up", id="picker.up", show=False),
    ]

    @dataclass
    class Chosen(Message):
        """This run is to be opened."""

        run: int

    @dataclass
    class Pointed(Message):
        """The cursor is on this run, or on none."""

        row: RunRow | None

    def __init__(self, *, clock: Callable[[], float] = time.time, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.lines: list[Line] = []
        self._clock = clock
        self._longest_name = 0
        self._ages: dict[int, str] = {}

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Letters filter, and the way up is not the way to the command palette."""
        return key == "ctrl+p" or (character is not None and character.isprintable())

    # -- facts -------------------------------------------------------------------------------

    @property
    def current(self) -> RunRow | None:
        """The run under the cursor."""
        line = self.lines[self.cursor] if self.cursor < len(self.lines) else None
        return line if isinstance(line, RunRow) else None

    def set_lines(self, lines: list[Line], *, from_top: bool = False) -> None:
        """Show these; the cursor stays on its run if that is still there."""
        before, self.lines = self.lines, lines
        was = before[self.cursor] if self.cursor < len(before) else None
        longest = max((len(line.name) for line in lines if isinstance(line, RunRow)), default=0)
        if [_key(line) for line in before] == [_key(line) for line in lines]:
            changed = [n for n, line in enumerate(lines) if line != before[n]]
        else:
            changed = []
            keys = {_key(line): number for number, line in enumerate(lines)}
            known = None if from_top or was is None else keys.get(_key(was))
            self.set_count(len(lines), 0 if from_top else self.cursor if known is None else known)
        for number in changed:
            self.refresh_item(number)
        if longest != self._longest_name:
            self._longest_name = longest
            self.refresh()
        if was != self.current:
            self.cursor_moved()

    def point_at(self, run: int) -> None:
        """Put the cursor on a run."""
        for number, line in enumerate(self.lines):
            if isinstance(line, RunRow) and line.run == run:
                self.set_count(len(self.lines), number)
                self.cursor_moved()

    def tick(self) -> None:
        """Draw the runs again whose age reads differently by now."""
        top = self.scroll_offset.y
        for number, line in enumerate(self.lines[top : top + self.page], top):
            if isinstance(line, RunRow) and self._ages.get(line.run) != self._age(line):
                self.refresh_item(number)

    # -- wishes ------------------------------------------------------------------------------

    def cursor_moved(self) -> None:
        """Tell which run it is on."""
        self.post_message(self.Pointed(self.current))

    def line_clicked(self, event: Click) -> None:
        """The second click opens."""
        if event.chain == 2:
            self.action_choose()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """With no run under the cursor the key is left to whoever else has a use for it."""
        return action != "choose" or self.current is not None

    def action_choose(self) -> None:
        """Open the run under the cursor."""
        if self.current is not None:
            self.post_message(self.Chosen(self.current.run))

    # -- drawing -----------------------------------------------------------------------------

    def is_choosable(self, number: int) -> bool:
        """Runs are, headings are not."""
        return isinstance(self.lines[number], RunRow)

    def draw_heading(self, width: int) -> Sequence[Segment]:
        """Names of the columns."""
        columns = lay_out(width, self._longest_name)
        gap = " " * columns.gap
        parts = [
            "   " + fitted("run", columns.name),
            fitted("state", columns.state),
            fitted_right("step", columns.progress),
            fitted_right("loss", columns.loss),
            fitted("trend", columns.trend),
            fitted_right("age", columns.age),
            fitted("worst finding", columns.headline),
        ]
        return [Segment(gap.join(part for part in parts if part))]

    def draw_line(self, number: int, width: int, is_current: bool) -> Sequence[Segment]:
        """A run, or a heading between runs."""
        line = self.lines[number]
        if isinstance(line, Heading):
            ruled = f"   ── {line.title} "
            return [Segment(ruled.ljust(width - 1, "─"), self._style("quiet"))]
        return list(self._draw_run(line, lay_out(width, self._longest_name), is_current))

    def _draw_run(self, row: RunRow, columns: RunColumns, is_current: bool) -> Iterator[Segment]:
        gap = Segment(" " * columns.gap)
        severity = self._style(f"severity-{row.health}")
        yield Segment("▸" if is_current else " ")
        yield Segment(HEALTH_GLYPHS[row.health], severity)
        yield Segment(" ")
        yield Segment(fitted_middle(row.name, columns.name), Style(bold=row.is_open or None))
        yield gap
        glyph, meaning = _STATES.get(row.state, ("", "quiet"))
        yield Segment(fitted(f"{glyph} {state_word(row)}".strip(), columns.state),
                      self._style(meaning))  # fmt: skip
        yield gap
        yield Segment(fitted_right(progress_of(row, columns.progress), columns.progress))
        yield gap
        loss = "" if row.last_loss is None else short_value(row.last_loss)
        is_bad = row.last_loss is not None and not math.isfinite(row.last_loss)
        yield Segment(fitted_right(loss, columns.loss), self._style("log-nan") if is_bad else None)
        yield gap
        if columns.trend:
            yield from self._draw_trend(row, columns.trend)
            yield gap
        age = self._ages[row.run] = self._age(row)
        yield Segment(fitted_right(age, columns.age), self._style("quiet"))
        if columns.headline:
            yield gap
            is_alarm = row.health in (Health.CRITICAL, Health.WARNING)
            yield Segment(fitted(row.headline, columns.headline),
                          severity if is_alarm else self._style("quiet"))  # fmt: skip

    def _draw_trend(self, row: RunRow, width: int) -> Iterator[Segment]:
        drawn = sparkline(row.trend, width)
        good, bad = self._style("chart-1"), self._style("heat-bad")
        start = 0
        for place in range(1, len(drawn) + 1):
            if place == len(drawn) or (drawn[place] == BAD) != (drawn[start] == BAD):
                yield Segment(drawn[start:place], bad if drawn[start] == BAD else good)
                start = place
        yield Segment(" " * (width - len(drawn)))

    def _age(self, row: RunRow) -> str:
        return "" if row.modified is None else short_age(self._clock() - row.modified)

    def _style(self, meaning: str) -> Style:
        return style(self.app, meaning)


def progress_of(row: RunRow, width: int) -> str:
    """How far a run is: its step, and of how many."""
    for prefix, last, total in (
        ("", row.step, row.total_steps),
        ("ep ", row.epoch, row.total_epochs),
    ):
        if last is None:
            continue
        text = prefix + short_count(last)
        if total and len(longer := f"{text}/{short_count(total)}") <= width:
            text = longer
            percent = f"{min(999, 100 * last / total):.0f}%"
            if len(text) + 5 <= width:
                text = f"{text} {percent:>4}"
        return text
    return ""


def _key(line: Line) -> int | str:
    return line.run if isinstance(line, RunRow) else line.title

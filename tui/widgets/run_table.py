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
from ..job_text import OLD_SECONDS, headline_of, label_of, share_of, state_of, time_of
from ..palette import style
from ..quantities import short_age, short_count, short_value
from ..run_list import Heading, Line
from ..sparkline import BAD, sparkline
from ..wording import age, percent
from .line_table import LineTable
from .run_columns import TIME_WITH_SHARE, RunColumns, lay_out

LEAST_FOR_BOTH = 8
"""Cells below which a share says more than a step without its total."""
JUST_NOW = 5.0
"""Seconds; the list is not drawn more often than that."""
HEALTH_GLYPHS = {
    Health.CRITICAL: "✖",
    Health.WARNING: "▲",
    Health.INFO: "●",
    Health.FINE: "✔",
    Health.UNKNOWN: "?",
}


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

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        are_jobs_first: bool = True,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(id=id)
        self.lines: list[Line] = []
        self._clock = clock
        self._are_jobs_first = are_jobs_first
        self.has_moved = False
        """The user has gone to another line."""
        self._longest_name = 0
        self._has_jobs = False
        self._told: dict[int | str, str] = {}
        """What was drawn of each line that changes with the time."""

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
        runs = [line for line in lines if isinstance(line, RunRow)]
        longest = max((len(self._label(row)) for row in runs), default=0)
        has_jobs = any(row.job is not None for row in runs)
        if [_key(line) for line in before] == [_key(line) for line in lines]:
            changed = [n for n, line in enumerate(lines) if line != before[n]]
        else:
            changed = []
            keys = {_key(line): number for number, line in enumerate(lines)}
            known = None if from_top or was is None else keys.get(_key(was))
            self.set_count(len(lines), 0 if from_top else self.cursor if known is None else known)
        for number in changed:
            self.refresh_item(number)
        if (longest, has_jobs) != (self._longest_name, self._has_jobs):
            self._longest_name, self._has_jobs = longest, has_jobs
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
        """Draw the lines again that read differently by now."""
        top = self.scroll_offset.y
        for number, line in enumerate(self.lines[top : top + self.page], top):
            if self._told.get(_key(line)) != self._timely(line):
                self.refresh_item(number)

    # -- wishes ------------------------------------------------------------------------------

    def move_to(self, number: int, direction: int = 1) -> None:
        """Put the cursor on a run, as somebody wants it."""
        self.has_moved = True
        super().move_to(number, direction)

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
        columns = self._columns(width)
        gap = " " * columns.gap
        parts = [
            "   " + fitted("run", columns.name),
            fitted("state", columns.state),
            fitted("time", columns.time),
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
        self._told[_key(line)] = self._timely(line)
        if isinstance(line, Heading):
            title, is_trouble = self._title(line)
            ruled = fitted(f"   ── {title}", width - 1).rstrip() + " "
            meaning = "stale" if is_trouble else "quiet"
            return [Segment(ruled.ljust(width - 1, "─"), self._style(meaning))]
        return list(self._draw_run(line, self._columns(width), is_current))

    def _columns(self, width: int) -> RunColumns:
        return lay_out(width, self._longest_name, has_jobs=self._has_jobs)

    def _draw_run(self, row: RunRow, columns: RunColumns, is_current: bool) -> Iterator[Segment]:
        gap = Segment(" " * columns.gap)
        severity = self._style(f"severity-{row.health}")
        is_nothing = row.health is Health.UNKNOWN and row.job is not None and row.job.is_waiting
        yield Segment("▸" if is_current else " ")
        yield Segment(" " if is_nothing else HEALTH_GLYPHS[row.health], severity)
        yield Segment(" ")
        name = fitted_middle(self._label(row), columns.name)
        yield Segment(name, Style(bold=row.is_open or None))
        yield gap
        glyph, word, meaning = state_of(row)
        yield Segment(fitted(f"{glyph} {word}".strip(), columns.state), self._style(meaning))
        yield gap
        if columns.time:
            is_short = row.job is not None and row.job.is_short_of_time(self._clock())
            warning = self._style("severity-warning") if is_short else None
            yield Segment(fitted(self._time(row, columns), columns.time), warning)
            yield gap
        yield Segment(fitted_right(progress_of(row, columns.progress), columns.progress))
        yield gap
        if columns.loss:
            loss = "" if row.last_loss is None else short_value(row.last_loss)
            is_bad = row.last_loss is not None and not math.isfinite(row.last_loss)
            bad = self._style("log-nan") if is_bad else None
            yield Segment(fitted_right(loss, columns.loss), bad)
            yield gap
        if columns.trend:
            yield from self._draw_trend(row, columns.trend)
            yield gap
        if columns.age:
            yield Segment(fitted_right(self._age(row), columns.age), self._style("quiet"))
        if columns.headline:
            yield gap if columns.age else Segment("")
            is_alarm = row.health in (Health.CRITICAL, Health.WARNING)
            said = headline_of(row, self._clock())
            yield Segment(fitted(said, columns.headline),
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

    def _label(self, row: RunRow) -> str:
        return label_of(row, are_jobs_first=self._are_jobs_first)

    def _age(self, row: RunRow) -> str:
        return "" if row.modified is None else short_age(self._clock() - row.modified)

    def _time(self, row: RunRow, columns: RunColumns) -> str:
        """How long a job runs, of how long; of others where there is no age, that."""
        job, now = row.job, self._clock()
        if columns.age or (job is not None and not job.is_over):
            if job is None:
                return ""
            said = time_of(job, now)
            if job.is_short_of_time(now):
                said = f"▲ {said}"
            share = share_of(job, now)
            is_roomy = columns.time >= TIME_WITH_SHARE
            return f"{said:<12} {percent(share):>4}" if is_roomy and share is not None else said
        ended = (job.ended_at if job is not None else None) or row.modified
        if ended is None:
            return ""
        passed = short_age(now - ended)
        return passed if passed == "now" else f"{passed} ago"

    def _title(self, heading: Heading) -> tuple[str, bool]:
        """A heading in words, and whether something is wrong."""
        asked = heading.asked
        if asked is None:
            return heading.title, False
        if asked.is_asking:
            return f"{heading.title}: asking for them...", False
        passed = None if asked.asked_at is None else max(0.0, self._clock() - asked.asked_at)
        ago = "" if passed is None else "just now" if passed < JUST_NOW else age(passed)
        said = f", {'as of' if asked.notes else 'asked'} {ago}" if ago else ""
        is_old = passed is not None and passed > OLD_SECONDS
        note = f": {asked.notes[0]}" if asked.notes else ""
        return f"{heading.title}{said}{note}", bool(note) or is_old

    def _timely(self, line: Line) -> str:
        """What a line says that changes with the time alone."""
        if isinstance(line, Heading):
            return self._title(line)[0]
        return f"{self._age(line)} {self._time(line, self._columns(self.size.width))}"

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
        if total and width < LEAST_FOR_BOTH:
            return f"{min(999, 100 * last / total):.0f}%"
        if total and len(longer := f"{text}/{short_count(total)}") <= width:
            text = longer
            percent = f"{min(999, 100 * last / total):.0f}%"
            if len(text) + 5 <= width:
                text = f"{text} {percent:>4}"
        return text
    return ""


def _key(line: Line) -> int | str:
    return line.run if isinstance(line, RunRow) else line.title

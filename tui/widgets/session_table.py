"""The sessions that there are, one line each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message

from ..cells import fitted, fitted_middle, fitted_right
from ..palette import style
from ..quantities import short_age
from ..run_list import Heading
from .line_table import LineTable

_AGE = 7
_BAR = 5
"""One cell per phase."""


class SessionRow(Protocol):
    """What the list knows about a session."""

    @property
    def id(self) -> str:
        """What it is opened by."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def created(self) -> datetime | None:
        """When it began."""

    @property
    def changed(self) -> datetime | None:
        """When something was last done to it."""

    @property
    def phase(self) -> str:
        """Where it stands."""

    @property
    def is_archived(self) -> bool:
        """It was put away."""

    @property
    def runs(self) -> Sequence[str]:
        """Names of its runs."""

    @property
    def hypotheses(self) -> int:
        """How many there are."""

    @property
    def experiments(self) -> int:
        """How many there are."""

    @property
    def headline(self) -> str:
        """Its best hypothesis."""

    @property
    def problem(self) -> str:
        """Why it cannot be read; empty if it can."""


Line = Heading | SessionRow


def arrange(rows: Iterable[SessionRow], wanted: str, *, shows_archived: bool) -> list[Line]:
    """Those that hold every wanted word, the latest first; the archive, if shown, at the end."""
    words = wanted.casefold().split()
    found = [row for row in rows if all(word in _haystack(row) for word in words)]
    found.sort(key=lambda row: (-_moment(row.changed), row.title, row.id))
    active: list[Line] = [row for row in found if not row.is_archived]
    archived = [row for row in found if row.is_archived] if shows_archived else []
    return [*active, Heading("archived"), *archived] if archived else active


def phase_number(phase: str) -> int:
    """Counted from 1; 0 for one that is not known here."""
    from mltd.sessions.model.checklist import Phase

    return Phase(phase).number if phase in list(Phase) else 0


def _haystack(row: SessionRow) -> str:
    texts = (row.title, row.id, row.headline, row.problem, *row.runs)
    return "\n".join(texts).casefold()


def _moment(at: datetime | None) -> float:
    return at.timestamp() if at is not None else 0.0


@dataclass(frozen=True, slots=True)
class SessionColumns:
    """How wide each column is; 0 for one that there is no room for."""

    title: int
    phase: int
    count: int
    headline: int
    run: int
    gap: int


def lay_out(width: int, longest_title: int) -> SessionColumns:
    """Columns for a width; runs have one of their own from 120 on."""
    gap = 1 if width < 110 else 2
    run = 22 if width >= 120 else 0
    phase = 4 + _BAR if width >= 66 else 3
    fixed = 3 + phase + 2 * 3 + _AGE + gap * (5 if not run else 6)
    room = max(16, width - fixed - run)
    title = min(max(longest_title, 12), max(12, room // 2))
    return SessionColumns(title, phase, 3, room - title, run, gap)


class SessionTable(LineTable):
    """Sessions to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", id="sessions.open"),
    ]

    @dataclass
    class Chosen(Message):
        """This session is to be opened."""

        row: SessionRow

    @dataclass
    class Pointed(Message):
        """The cursor is on this session, or on none."""

        row: SessionRow | None

    def __init__(
        self,
        current: str = "",
        *,
        clock: Callable[[], float] = time.time,
        id: str | None = None,  # noqa: A002 - as widgets call it
    ) -> None:
        super().__init__(id=id)
        self.lines: list[Line] = []
        self._current = current
        """Id of the session that is open."""
        self._clock = clock

    # -- facts -------------------------------------------------------------------------------

    @property
    def current(self) -> SessionRow | None:
        """The session under the cursor."""
        line = self.lines[self.cursor] if self.cursor < len(self.lines) else None
        return None if isinstance(line, Heading) else line

    def set_lines(self, lines: list[Line], *, from_top: bool = False) -> None:
        """Show these; the cursor stays on its session if that is still there."""
        was = self.current
        self.lines = lines
        ids = [None if isinstance(line, Heading) else line.id for line in lines]
        known = was is not None and not from_top and was.id in ids
        cursor = ids.index(was.id) if known and was is not None else 0 if from_top else self.cursor
        self.set_count(len(lines), cursor)
        self.cursor_moved()

    def point_at(self, id: str) -> None:  # noqa: A002 - what it is
        """Put the cursor on a session."""
        for number, line in enumerate(self.lines):
            if not isinstance(line, Heading) and line.id == id:
                self.move_to(number)

    # -- wishes ------------------------------------------------------------------------------

    def cursor_moved(self) -> None:
        """Tell which session it is on."""
        self.post_message(self.Pointed(self.current))

    def line_clicked(self, event: Click) -> None:
        """The second click opens."""
        if event.chain == 2:
            self.action_choose()

    def action_choose(self) -> None:
        """Open the session under the cursor."""
        if self.current is not None:
            self.post_message(self.Chosen(self.current))

    # -- drawing -----------------------------------------------------------------------------

    def is_choosable(self, number: int) -> bool:
        """Sessions are, headings are not."""
        return not isinstance(self.lines[number], Heading)

    def _columns(self, width: int) -> SessionColumns:
        rows = (line for line in self.lines if not isinstance(line, Heading))
        return lay_out(width, max((len(row.title) for row in rows), default=0))

    def draw_heading(self, width: int) -> Sequence[Segment]:
        """Names of the columns."""
        columns = self._columns(width)
        parts = [
            "   " + fitted("session", columns.title),
            fitted("phase", columns.phase),
            fitted_right("hyp", columns.count),
            fitted_right("exp", columns.count),
            fitted("best hypothesis", columns.headline),
            fitted("run", columns.run),
            fitted_right("changed", _AGE),
        ]
        return [Segment((" " * columns.gap).join(part for part in parts if part))]

    def draw_line(self, number: int, width: int, is_current: bool) -> Sequence[Segment]:
        """A session, or a heading between sessions."""
        line = self.lines[number]
        if isinstance(line, Heading):
            ruled = f"   ── {line.title} "
            return [Segment(ruled.ljust(width - 1, "─"), self._style("quiet"))]
        return list(self._draw_session(line, self._columns(width), is_current))

    def _draw_session(
        self, row: SessionRow, columns: SessionColumns, is_current: bool
    ) -> Iterator[Segment]:
        gap = Segment(" " * columns.gap)
        quiet = self._style("quiet")
        is_open = row.id == self._current
        glyph, meaning = (
            ("✖", "severity-critical")
            if row.problem
            else ("●", "severity-fine")
            if is_open
            else ("▫" if row.is_archived else " ", "quiet")
        )
        yield Segment("▸" if is_current else " ")
        yield Segment(glyph, self._style(meaning))
        yield Segment(" ")
        title = quiet if row.is_archived else Style(bold=is_open or None)
        yield Segment(fitted(row.title or row.id, columns.title), title)
        yield gap
        yield from self._draw_phase(row, columns.phase)
        for count in (row.hypotheses, row.experiments):
            yield gap
            yield Segment(fitted_right(f"{count}" if count else "–", columns.count),
                          None if count else quiet)  # fmt: skip
        yield gap
        headline = row.problem or row.headline
        told = self._style("severity-critical") if row.problem else quiet
        yield Segment(fitted(headline, columns.headline), told)
        yield gap
        if columns.run:
            yield Segment(fitted_middle(_runs(row), columns.run), quiet)
            yield gap
        yield Segment(fitted_right(age_of(row.changed, self._clock()), _AGE), quiet)

    def _draw_phase(self, row: SessionRow, width: int) -> Iterator[Segment]:
        number = 0 if row.problem else phase_number(row.phase)
        if not number:
            yield Segment(fitted("?" if not row.problem else "", width), self._style("quiet"))
            return
        yield Segment(f"{number}/{_BAR}")
        if width > 3:
            yield Segment(" " + "▰" * number, self._style("confidence"))
            yield Segment("▱" * (_BAR - number), self._style("confidence-ceiling"))

    def _style(self, meaning: str) -> Style:
        return style(self.app, meaning)


def age_of(changed: datetime | None, now: float) -> str:
    """How long ago, in at most seven characters."""
    if changed is None:
        return ""
    age = short_age(now - changed.timestamp())
    return age if age == "now" else f"{age} ago"


def _runs(row: SessionRow) -> str:
    if not row.runs:
        return ""
    more = f" +{len(row.runs) - 1}" if len(row.runs) > 1 else ""
    return f"{row.runs[0]}{more}"

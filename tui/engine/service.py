"""The engine's main loop: wishes first, then reading, then judging, then telling."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from mltd.runs.errors import SettingsError
from mltd.runs.run import Run
from mltd.runs.settings import current
from mltd.runs.sources.watcher import Watcher

from .catalogue import Catalogue
from .comparison import compare
from .curves import CurveBook
from .followed_run import FollowedRun, clock, is_same_but_for_clock
from .heat import make_heat
from .inbox import Inbox
from .places import find_place
from .protocol import (
    CompareRequest,
    CurveRequest,
    Curves,
    Diagnosed,
    FactsRequest,
    HeatRequest,
    News,
    Open,
    PlaceRequest,
    Pulse,
    ReportRequest,
    Rows,
    RunRow,
    RunsFound,
    RunStatus,
    Select,
    SeriesChanged,
    StatusChanged,
    Trouble,
    Wish,
)
from .protocol import Survey as SurveyWish
from .rows import make_row
from .series_list import describe_series
from .session_work import facts_of, report
from .survey import Survey

_Task = TypeVar("_Task")

FOLLOWED_AT_ONCE = 8
"""Runs followed at the same time; more are read when they are selected."""
TELL_EVERY = 0.5
"""Seconds between two updates of a header or a curve that keeps growing."""
LOOK_EVERY = 5.0
"""Seconds after which a silent run's state is judged again: silence means something too."""
PULSE_EVERY = 2.0
"""Seconds after which the screen must hear from us, whatever there is to say."""
DISCOVER_EVERY = 10.0
"""Seconds between two looks for runs that appeared in the directories that were named."""
DISCOVER_SHARE = 20.0
"""A look that takes long, as on a slow file system, is taken less often."""
SETTLE_AFTER = 1.0
SETTLE_AGAIN = 11.0
JUDGE_EVERY = 1.0
JUDGE_SHARE = 5.0
"""A verdict that takes long is made less often: at most a fifth of the time goes into it."""


class _Told:
    """What the screen was last told about a run, and when something is due."""

    def __init__(self) -> None:
        self.status: RunStatus | None = None
        self.series: SeriesChanged | None = None
        self.next_status = 0.0
        self.next_verdict = 0.0
        self.settles: tuple[float, ...] = ()
        """When to take what was held back: soon, and again when the log seems to be over."""
        self.growth = 0
        """Counts what was read, so that curves know when they are out of date."""


class Service:
    """Follows runs and answers the screen; everything happens in the thread that calls `run`."""

    def __init__(
        self,
        send: Callable[[News], None],
        inbox: Inbox,
        watcher: Watcher,
        now: Callable[[], float] = clock,
    ) -> None:
        self._pipe = send
        self._said_at = 0.0
        self._inbox = inbox
        self._watcher = watcher
        self._now = now
        self._catalogue = Catalogue()
        self._followed: dict[int, FollowedRun] = {}
        self._told: dict[int, _Told] = {}
        self._recent: list[int] = []
        self._book = CurveBook()
        self._curves: dict[int, CurveRequest] = {}
        self._drawn: dict[int, tuple[float, tuple[int, ...], Curves]] = {}
        self._survey = Survey()
        self._surveys = False
        self._names: list[str] = []
        self._next_discovery = 0.0

    def run(self) -> None:
        """Work until nobody is interested any more."""
        while not self._inbox.is_closed:
            self.step()

    def _send(self, news: News) -> None:
        self._said_at = self._now()
        self._pipe(news)

    def step(self) -> None:
        """Wait for something to do, and do one piece of it."""
        quiet = self._now() - self._said_at
        wishes, changed = self._inbox.wait(min(self._patience(), max(0.0, PULSE_EVERY - quiet)))
        self._pulse()
        for wish in wishes:
            self._guarded(self._grant, wish)
        self._guarded(self._work, changed)

    def _pulse(self) -> None:
        if self._now() - self._said_at >= PULSE_EVERY:
            self._send(Pulse())

    def _guarded(self, work: Callable[[_Task], None], task: _Task) -> None:
        try:
            work(task)
        except OSError as problem:
            if isinstance(problem, BrokenPipeError):
                raise
            self._send(Trouble(f"reading failed: {problem}", details=traceback.format_exc()))
        except Exception as problem:  # noqa: BLE001 - one broken run must not end the engine
            summary = f"{type(problem).__name__}: {problem}"
            self._send(Trouble(f"the engine stumbled: {summary}", details=traceback.format_exc()))

    # -- wishes ---------------------------------------------------------------------------

    def _grant(self, wish: Wish) -> None:
        match wish:
            case Open():
                self._open(wish)
            case Select():
                self._select(wish.run)
            case SurveyWish():
                self._surveys = wish.is_wanted
                self._survey.look_soon()
            case CurveRequest():
                self._subscribe(wish)
            case HeatRequest():
                if wish.run in self._followed:
                    self._send(make_heat(wish, self._followed[wish.run].run))
            case PlaceRequest():
                if wish.run in self._followed:
                    run = self._followed[wish.run].run
                    self._send(find_place(wish, run, self._book.envelopes))
            case CompareRequest():
                self._compare(wish)
            case FactsRequest():
                self._read_whole(wish.run)
                if wish.run in self._followed:
                    self._send(facts_of(self._followed[wish.run]))
            case ReportRequest():
                for _, number in wish.runs:
                    self._read_whole(number)
                self._send(report(wish, self._followed))

    def _open(self, wish: Open) -> None:
        try:
            current()
        except SettingsError as problem:
            self._send(RunsFound((), (str(problem),)))
            return
        numbers, problems = self._catalogue.add(wish.names)
        self._names = self._catalogue.names()
        if not wish.is_survey:
            for number in numbers[:FOLLOWED_AT_ONCE]:
                self._follow(number)
        self._surveys |= len(self._catalogue.runs) > 1
        self._next_discovery = self._now() + DISCOVER_EVERY
        self._tell_runs(problems)

    def _tell_runs(self, problems: Sequence[str] = ()) -> None:
        self._survey.look_soon()
        rows = tuple(self._row(number) for number in range(len(self._catalogue.runs)))
        self._send(RunsFound(rows, tuple(problems)))

    def _discover(self, now: float) -> None:
        """Look for runs, and for files of runs, that have appeared."""
        if now < self._next_discovery or not self._catalogue.can_grow:
            return
        new, changed = self._catalogue.look_again()
        took = self._now() - now
        self._next_discovery = self._now() + max(DISCOVER_EVERY, DISCOVER_SHARE * took)
        for number in changed:
            if number in self._followed:
                self._leave(number)
                self._follow(number)
        if new or changed:
            self._names = self._catalogue.names()
            self._surveys |= len(self._catalogue.runs) > 1
            self._tell_runs()

    def _select(self, number: int) -> None:
        if not 0 <= number < len(self._catalogue.runs):
            return
        self._follow(number)
        self._recent = [number, *(n for n in self._recent if n != number)]
        while len(self._followed) > FOLLOWED_AT_ONCE:
            self._leave(next(n for n in reversed(self._recent) if n in self._followed))
        self._told[number] = _Told()
        self._tell(self._followed[number], self._now())

    def _follow(self, number: int) -> None:
        if number in self._followed:
            return
        followed = FollowedRun(number, self._catalogue.runs[number])
        self._followed[number] = followed
        self._told[number] = _Told()
        self._recent.append(number)
        for path in followed.live.paths:
            self._watcher.add(path)

    def _leave(self, number: int) -> None:
        followed = self._followed.pop(number)
        for path in followed.live.paths:
            self._watcher.discard(path)
        self._book.forget(number)
        followed.close()

    def _compare(self, wish: CompareRequest) -> None:
        for number in (wish.before, wish.after):
            self._read_whole(number)
        before, after = self._followed[wish.before], self._followed[wish.after]
        self._send(compare(wish, before.run, after.run))

    def _read_whole(self, number: int) -> None:
        """Read all that there is of a run, whatever else waits."""
        if not 0 <= number < len(self._catalogue.runs):
            return
        self._follow(number)
        while self._followed[number].has_work:
            self._read(self._followed[number])
            self._pulse()

    # -- work -----------------------------------------------------------------------------

    def _patience(self) -> float:
        """Seconds until something is due, 0 while there is work."""
        if any(followed.has_work for followed in self._followed.values()):
            return 0.0
        now = self._now()
        if self._surveys and self._survey.has_work:
            return 0.0
        due = now + LOOK_EVERY
        for number, followed in self._followed.items():
            told = self._told[number]
            due = min(due, told.next_status)
            if followed.has_news:
                due = min(due, told.next_verdict)
            due = min(due, *told.settles[:1], due)
        for ticket in self._outdated():
            due = min(due, self._drawn[ticket][0] if ticket in self._drawn else now)
        return max(0.0, due - now)

    def _work(self, changed: set[Path]) -> None:
        now = self._now()
        if changed:
            for number, followed in self._followed.items():
                followed.changed(changed, now)
                if followed.has_work:
                    self._told[number].settles = (now + SETTLE_AFTER, now + SETTLE_AGAIN)
        for number in self._by_interest():
            followed = self._followed[number]
            if followed.has_work:
                self._read(followed)
                break
        else:
            self._look_around(now)
        for number in self._by_interest():
            self._attend(self._followed[number], self._now())
        self._redraw()

    def _by_interest(self) -> list[int]:
        return sorted(self._followed, key=self._recent.index)

    def _read(self, followed: FollowedRun) -> None:
        told = self._told[followed.number]
        if followed.read_some(self._now()):
            told.growth += 1
            told.next_status = min(told.next_status, self._now() + TELL_EVERY)

    def _look_around(self, now: float) -> None:
        self._discover(now)
        if not self._surveys:
            return
        self._survey.look(self._catalogue.runs, set(self._followed), now)
        if self._survey.has_work:
            row = self._survey.work(self._catalogue.runs, now)
            if row is not None:
                self._send(Rows((row._replace(name=self._names[row.run]),)))

    def _attend(self, followed: FollowedRun, now: float) -> None:
        """Settle, judge and tell what is due for one run."""
        told = self._told[followed.number]
        while told.settles and now >= told.settles[0] and not followed.has_work:
            told.settles = told.settles[1:]
            if followed.settle(now):
                told.growth += 1
        is_judgeable = followed.has_news and followed.is_complete and not followed.has_work
        if is_judgeable and now >= told.next_verdict:
            is_new = followed.judge()
            took = self._now() - now
            told.next_verdict = self._now() + max(JUDGE_EVERY, JUDGE_SHARE * took)
            told.next_status = 0.0
            if is_new and followed.diagnosis is not None:
                self._send(Diagnosed(followed.number, followed.diagnosis))
        if now >= told.next_status:
            self._tell(followed, now)

    def _tell(self, followed: FollowedRun, now: float) -> None:
        told = self._told[followed.number]
        told.next_status = now + (TELL_EVERY if followed.has_work else LOOK_EVERY)
        is_first = told.status is None
        status = followed.status(now, self._watcher.modes(), self._watcher.notes())
        status = status._replace(name=self._names[followed.number])
        if not is_same_but_for_clock(told.status, status):
            told.status = status
            self._send(StatusChanged(status))
            if len(self._catalogue.runs) > 1 or self._surveys:
                self._send(Rows((self._row(followed.number),)))
        series = describe_series(followed.number, followed.run, self._book.envelopes)
        if series != told.series:
            told.series = series
            self._send(series)
        if is_first and followed.diagnosis is not None:
            self._send(Diagnosed(followed.number, followed.diagnosis))
        for problem in followed.problems():
            self._send(Trouble(problem))

    def _row(self, number: int) -> RunRow:
        files = self._catalogue.runs[number]
        followed = self._followed.get(number)
        if followed is None:
            row = self._survey.rows.get(number) or make_row(
                number, files, None, None, is_open=False
            )
        else:
            verdict = followed.diagnosis
            row = make_row(number, files, followed.run, verdict, is_open=True, now=self._now())
        return row._replace(name=self._names[number])

    # -- curves ---------------------------------------------------------------------------

    def _subscribe(self, request: CurveRequest) -> None:
        self._drawn.pop(request.ticket, None)
        if request.series:
            self._curves[request.ticket] = request
            self._draw(request)
        else:
            self._curves.pop(request.ticket, None)

    def _outdated(self) -> list[int]:
        return [
            ticket
            for ticket, request in self._curves.items()
            if ticket not in self._drawn or self._drawn[ticket][1] != self._growth_of(request)
        ]

    def _growth_of(self, request: CurveRequest) -> tuple[int, ...]:
        numbers = dict.fromkeys(number for number, _ in request.series)
        return tuple(self._told[n].growth if n in self._told else -1 for n in numbers)

    def _redraw(self) -> None:
        now = self._now()
        for ticket in self._outdated():
            if ticket not in self._drawn or now >= self._drawn[ticket][0]:
                self._draw(self._curves[ticket])

    def _draw(self, request: CurveRequest) -> None:
        growth = self._growth_of(request)
        runs: dict[int, Run] = {}
        verdicts = {}
        for number in {number for number, _ in request.series}:
            if 0 <= number < len(self._catalogue.runs):
                self._follow(number)
                runs[number] = self._followed[number].run
                if (verdict := self._followed[number].diagnosis) is not None:
                    verdicts[number] = verdict
        curves = self._book.answer(request, runs, verdicts)
        before = self._drawn.get(request.ticket)
        self._drawn[request.ticket] = (self._now() + TELL_EVERY, growth, curves)
        if before is None or before[2] != curves:
            self._send(curves)

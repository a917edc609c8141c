"""The engine's main loop: wishes first, then reading, then judging, then telling."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from mltd.runs.discovery import RunFiles
from mltd.runs.errors import SettingsError
from mltd.runs.ingest import LOG_PURPOSES
from mltd.runs.settings import current
from mltd.runs.sources.watcher import Watcher

from .answering import answer, answer_now, runs_for
from .catalogue import Catalogue
from .consulting.desk import ConsultDesk
from .curve_desk import TELL_EVERY, CurveDesk
from .curve_protocol import CompareRequest, CurveRequest, HeatRequest, PlaceRequest
from .followed_run import FollowedRun, clock, is_same_but_for_clock
from .inbox import Inbox
from .inspecting.desk import InspectDesk
from .job_book import JobBook
from .jobs import HeardJobs
from .model_protocol import ModelWish
from .protocol import (
    Diagnosed,
    FactsRequest,
    News,
    Open,
    Pulse,
    ReportRequest,
    Rows,
    RunRow,
    RunsFound,
    Select,
    StatusChanged,
    Trouble,
    Wish,
)
from .protocol import Survey as SurveyWish
from .remote_files import RemoteFiles
from .rows import make_row
from .series_list import describe_series
from .survey import Survey
from .timing import (
    DESCRIBE_SHARE,
    DISCOVER_EVERY,
    DISCOVER_SHARE,
    FOLLOWED_AT_ONCE,
    JUDGE_EVERY,
    JUDGE_SHARE,
    JUDGE_SILENCE,
    LOOK_EVERY,
    PULSE_EVERY,
    SETTLE_AFTER,
    SETTLE_AGAIN,
    Told,
)

_Task = TypeVar("_Task")


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
        self._jobs = JobBook(self._catalogue)
        self._followed: dict[int, FollowedRun] = {}
        self._told: dict[int, Told] = {}
        self._recent: list[int] = []
        self._curves = CurveDesk(self._send, now, self._at_hand, self._growth_of)
        self._survey = Survey()
        self._surveys = False
        self._names: list[str] = []
        self._next_discovery = 0.0
        self._remote = RemoteFiles(inbox.changed)
        self._consults = ConsultDesk(self._send, inbox.errand, self._at_hand, self._followed)
        self._inspects = InspectDesk(self._send, inbox.errand, self._at_hand)
        self._deferred: list[Wish] = []
        """What can only be granted once remote files are here as a whole."""

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
        for heard in self._inbox.take_jobs():
            self._guarded(self._hear_of_jobs, heard)
        self._run_errands()
        self._guarded(self._work, changed)
        self._guarded(ConsultDesk.work, self._consults)

    def _run_errands(self) -> None:
        for errand in self._inbox.take_errands():
            self._guarded(lambda work: work(), errand)

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
                self._curves.subscribe(wish)
            case HeatRequest() | PlaceRequest():
                for news in answer_now(wish, self._followed, self._curves.book.envelopes):
                    self._send(news)
            case CompareRequest() | FactsRequest() | ReportRequest():
                if self._are_whole(wish, runs_for(wish)):
                    for news in answer(wish, self._followed, self._now()):
                        self._send(news)
            case _ if isinstance(wish, ModelWish):
                self._inspects.grant(wish)
            case _:
                self._consults.grant(wish)

    def _open(self, wish: Open) -> None:
        try:
            current()
        except SettingsError as problem:
            self._send(RunsFound((), (str(problem),)))
            return
        self._catalogue.keep(wish.known)
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

    def runs(self) -> list[RunFiles]:
        """All runs that are known, for other threads to look at."""
        return list(self._catalogue.runs)

    def _hear_of_jobs(self, heard: HeardJobs) -> None:
        changes = self._jobs.take(heard)
        for number in changes.files & set(self._followed):
            self._leave(number)
            self._follow(number)
        for number in changes.told & set(self._followed):
            self._followed[number].take_job(self._catalogue.runs[number].job)
            self._told[number].next_status = 0.0
        self._survey.judge_again(changes.moved - set(self._followed))
        if changes.has_new:
            self._names = self._catalogue.names()
            self._tell_runs()
        elif changes.told:
            self._send(Rows(tuple(map(self._row, sorted(changes.told)))))
        self._send(self._jobs.asked)

    def _select(self, number: int) -> None:
        if not 0 <= number < len(self._catalogue.runs):
            return
        self._follow(number)
        self._remote.prefer(map(str, self._followed[number].live.paths))
        self._recent = [number, *(n for n in self._recent if n != number)]
        while len(self._followed) > FOLLOWED_AT_ONCE:
            self._leave(next(n for n in reversed(self._recent) if n in self._followed))
        self._told[number] = Told()
        self._tell(self._followed[number], self._now())

    def _follow(self, number: int) -> None:
        if number in self._followed:
            return
        files = self._catalogue.runs[number]
        self._remote.open(files)
        followed = FollowedRun(number, files, self._remote)
        self._followed[number] = followed
        self._told[number] = Told()
        self._recent.append(number)
        for path in followed.live.paths:
            self._watcher.add(path)

    def _leave(self, number: int) -> None:
        followed = self._followed.pop(number)
        for path in followed.live.paths:
            self._watcher.discard(path)
        self._remote.leave(map(str, followed.live.paths))
        self._curves.book.forget(number)
        followed.close()

    def _are_whole(self, wish: Wish, numbers: Sequence[int]) -> bool:
        """Have all that there is of some runs; false if that takes a while, and the wish waits."""
        for number in numbers:
            self._read_whole(number)
        if not any(n in self._followed and self._followed[n].is_awaited for n in numbers):
            return True
        self._deferred.append(wish)
        return False

    def _grant_deferred(self) -> None:
        waiting, self._deferred = self._deferred, []
        for wish in waiting:
            self._guarded(self._grant, wish)

    def _read_whole(self, number: int) -> None:
        """Read all that there is of a run, whatever else waits."""
        if not 0 <= number < len(self._catalogue.runs):
            return
        self._follow(number)
        while self._followed[number].has_work:
            self._read(self._followed[number])
            self._pulse()
            # Somebody else may wait for an answer, and this may take a while.
            self._run_errands()

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
            if followed.is_judgeable:
                due = min(due, told.next_verdict)
            due = min(due, *told.settles[:1], due)
        curves_due = self._curves.due(now)
        return max(0.0, (due if curves_due is None else min(due, curves_due)) - now)

    def _work(self, changed: set[Path]) -> None:
        now = self._now()
        if changed:
            for number, followed in self._followed.items():
                told = self._told[number]
                told.growth += followed.changed(changed, now)
                if followed.has_work:
                    told.settles = (now + SETTLE_AFTER, now + SETTLE_AGAIN, now + JUDGE_SILENCE)
                if followed.is_remote and not changed.isdisjoint(followed.live.paths):
                    # Also if nothing came: the connection may have gone.
                    told.next_status = min(told.next_status, now + TELL_EVERY)
            if self._deferred:
                self._grant_deferred()
        for number in self._by_interest():
            followed = self._followed[number]
            if followed.has_work:
                self._read(followed)
                break
        else:
            self._look_around(now)
        for number in self._by_interest():
            self._attend(self._followed[number], self._now())
        self._curves.redraw()

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
        self._survey.look(self._catalogue.runs, set(self._followed), now, self._remote)
        if self._survey.has_work:
            row = self._survey.work(self._catalogue.runs, now)
            if row is not None:
                self._send(Rows((self._dressed(row),)))

    def _attend(self, followed: FollowedRun, now: float) -> None:
        """Settle, judge and tell what is due for one run."""
        told = self._told[followed.number]
        while told.settles and now >= told.settles[0] and not followed.has_work:
            told.settles = told.settles[1:]
            if followed.settle(now):
                told.growth += 1
            followed.has_news |= not told.settles
        if followed.is_judgeable and now >= told.next_verdict:
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
        job = self._jobs.row_of(followed.number)
        status = status._replace(name=self._names[followed.number], job=job)
        if not is_same_but_for_clock(told.status, status):
            told.status = status
            self._send(StatusChanged(status))
            if len(self._catalogue.runs) > 1 or self._surveys:
                self._send(Rows((self._row(followed.number),)))
        self._tell_series(followed, told)
        if is_first and followed.diagnosis is not None:
            self._send(Diagnosed(followed.number, followed.diagnosis))
        for problem in followed.problems():
            self._send(Trouble(problem))

    def _tell_series(self, followed: FollowedRun, told: Told) -> None:
        """Send the list of metrics if it can have changed; a long one less often."""
        state = (told.growth, id(followed.run), followed.run.thinnings)
        started = self._now()
        if told.listed == state or (followed.has_work and started < told.next_series):
            return
        told.listed = state
        series = describe_series(followed.number, followed.run, self._curves.book.envelopes)
        if series != told.series:
            told.series = series
            self._send(series)
        told.next_series = self._now() + DESCRIBE_SHARE * (self._now() - started)

    def _row(self, number: int) -> RunRow:
        files = self._catalogue.runs[number]
        followed = self._followed.get(number)
        if followed is None:
            excuse = self._remote.excuse(files.paths(*LOG_PURPOSES))
            row = self._survey.rows.get(number) or make_row(
                number, files, None, None, is_open=False, problem=excuse
            )
        else:
            verdict = followed.diagnosis
            row = make_row(number, files, followed.run, verdict, is_open=True, now=self._now())
        return self._dressed(row)

    def _dressed(self, row: RunRow) -> RunRow:
        return self._jobs.dressed(row._replace(name=self._names[row.run]))

    def _at_hand(self, number: int) -> FollowedRun | None:
        if not 0 <= number < len(self._catalogue.runs):
            return None
        self._follow(number)
        return self._followed[number]

    def _growth_of(self, number: int) -> int:
        return self._told[number].growth if number in self._told else -1

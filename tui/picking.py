"""The part of the app that picks runs: the one to look at, and those to compare it with."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from mltd.runs.name_text import path_of

from .bridge import Bridge
from .engine.curve_protocol import CompareRequest, Comparison, Curves
from .engine.protocol import JobsAsked, News, Open, Rows, RunsFound, SeriesChanged, Survey
from .noticing import NoticingApp
from .recent import RecentRuns
from .screens.main import MainScreen
from .settings import ScreenSettings
from .terminal import Terminal
from .theming import LoadedThemes

if TYPE_CHECKING:
    from .screens.compare import CompareScreen
    from .screens.run_picker import RunPicker
    from .widgets.curves_pane import CurvesPane

COMPARED, OVERLAID = -1, -2
"""Tickets of the pair whose numbers are shown, and of runs that are only drawn."""


class PickingApp(NoticingApp):
    """Pickers and comparisons over the main screen."""

    main_screen: MainScreen
    bridge: Bridge
    first_wish: Open
    recent: RecentRuns | None
    """None if what is opened is not worth remembering."""
    picker: RunPicker | None = None
    _jobs_asked: JobsAsked | None = None
    _comparing: CompareScreen | None = None
    _compared_curves: CurvesPane | None = None
    _compared: tuple[int, ...] = ()
    """Runs drawn over the one being looked at."""

    def __init__(
        self,
        themes: LoadedThemes,
        terminal: Terminal,
        settings: ScreenSettings,
        *wishes: str | None,
    ) -> None:
        super().__init__(themes, terminal, settings, *wishes)
        self._expected: dict[str, Callable[[int], object]] = {}
        """What to do with a run as soon as the engine has found it, by where it is."""

    def hear_of_runs(self, news: News) -> None:
        """Pass news on to the picker or the comparison that is open."""
        match news:
            case RunsFound():
                self._found_runs(news)
            case Rows() if self.picker is not None:
                self.picker.update_rows(news.rows)
            case JobsAsked():
                self._jobs_asked = news
                if self.picker is not None:
                    self.picker.set_jobs(news)
            case Comparison() if self._comparing is not None and news.ticket == COMPARED:
                self._comparing.set_comparison(news)
            case Curves() if self._comparing is not None:
                self._comparing.set_curves(news)
            case SeriesChanged() if self._compared_curves is not None:
                self.main_screen.fill_curves(self._compared_curves, self._compared)
            case _:
                pass

    def action_runs(self) -> None:
        """Pick the run to look at."""

        def chosen(run: int | None) -> None:
            if run is not None:
                if self.recent is not None:
                    self.recent.remember(self.book.rows[run].path)
                self.main_screen.select(run)

        current = self.book.selected if self.book.known else None
        self._pick(chosen, "Runs", current, allows_close=bool(self.book.known))

    def action_compare(self) -> None:
        """Pick a second run and put it beside the one being looked at."""
        if len(self.book.rows) < 2:
            self.complain("there is only one run; open two to compare them: mltd-tui A B")
            return

        def chosen(run: int | None) -> None:
            if run is not None and run != self.book.selected:
                self._compare(self.book.selected, run)

        title = f"Compare {self.book.name(self.book.selected)} with"
        self._pick(chosen, title, left_out=self.book.selected)

    def _pick(
        self,
        chosen: Callable[[int | None], None],
        title: str,
        current: int | None = None,
        *,
        allows_close: bool = True,
        left_out: int | None = None,
    ) -> None:
        from .screens.run_picker import RunPicker

        def closed(run: int | str | None) -> None:
            self.picker = None
            self.bridge.send(Survey(False))
            if isinstance(run, str):
                self._with_path(run, chosen)
            else:
                chosen(run)

        self.bridge.send(Survey(True))
        rows = tuple(self.book.rows.values())
        directories = self.first_wish.names[:1]
        if not self.first_wish.is_survey and self.book.rows:
            directories = ()
        self.picker = RunPicker(
            rows,
            title=title,
            allows_close=allows_close,
            directories=directories,
            current=current,
            left_out=left_out,
            asked=self._jobs_asked,
            are_jobs_first=self.book.are_jobs_first,
        )
        self.push_screen(self.picker, closed)

    def _compare(self, before: int, after: int) -> None:
        from .screens.compare import CompareScreen

        curves = self._compared_curves = self.main_screen.make_curves()
        self._compared = (after,)
        self.main_screen.fill_curves(curves, self._compared)
        names = (self.book.name(before), self.book.name(after))
        self.bridge.send(CompareRequest(COMPARED, before, after))
        self._comparing = CompareScreen(*names, None, curves)

        def closed(_: None) -> None:
            self._comparing = self._compared_curves = None
            for request in curves.last_requests():
                self.bridge.send(request)

        self.push_screen(self._comparing, closed)

    def _with_path(self, typed: str, chosen: Callable[[int | None], None]) -> None:
        path = os.path.abspath(os.path.expanduser(typed))
        if typed.startswith("job:"):
            self.with_run(typed, chosen)
            return
        if ":" in typed and not os.path.lexists(path):
            self._with_remote(typed, chosen)
        elif os.path.lexists(path):
            self.with_run(path, chosen)
        else:
            self.complain(f"there is no {path}")
            chosen(None)

    def _with_remote(self, typed: str, chosen: Callable[[int | None], None]) -> None:
        from mltd.runs.errors import InputError
        from mltd.runs.remote.address import parse_address
        from mltd.runs.remote.names import mirror_root, url_of

        try:
            address = parse_address(typed)
        except InputError as problem:
            self.complain(str(problem))
            chosen(None)
            return
        if address is None:
            self.complain(f"there is no {typed}")
            chosen(None)
        elif not mirror_root() or not address.path.startswith(b"/"):
            # Whatever ssh has to ask, it can only ask in the plain terminal.
            self.complain(f"open it from the command line: mltd-tui {typed}")
            chosen(None)
        else:
            path = f"{mirror_root()}/{address.host.folder}{os.fsdecode(address.path)}"
            self.with_run(url_of(path), chosen)

    # -- runs that were named later -------------------------------------------------------

    def with_run(self, location: str, then: Callable[[int], object]) -> None:
        """Have the engine find a run, and go on when it has."""
        known = self._number_at(location)
        if known is not None:
            then(known)
            return
        self._expected[location] = then
        self.bridge.send(Open((path_of(location),)))

    def _number_at(self, location: str) -> int | None:
        rows = self.book.rows
        job_id = location.removeprefix("job:")
        for number, row in rows.items():
            is_named = job_id != location and row.job is not None and row.job.id == job_id
            if is_named or location in row.logs:
                return number
        inside = [number for number, row in rows.items() if row.path == location]
        return inside[0] if len(inside) == 1 else None

    def _rows_below(self, location: str) -> int:
        folder = os.path.join(location, "")
        return sum(os.path.join(row.path, "").startswith(folder) for row in self.book.rows.values())

    def _found_runs(self, news: RunsFound) -> None:
        for location, then in list(self._expected.items()):
            number = self._number_at(location)
            if number is not None:
                del self._expected[location]
                then(number)
            elif several := self._rows_below(location):
                del self._expected[location]
                self.complain(f"{location} holds {several} runs: name one of them")
        if news.problems:
            # What could not be found will not be: whoever waits is told by the notice.
            self._expected.clear()

    def action_overlay(self) -> None:
        """Draw one more run over those that are compared."""
        curves = self._compared_curves
        if curves is None:
            return

        def chosen(run: int | None) -> None:
            if run is None or run in self._compared:
                return
            self._compared = (*self._compared, run)
            # Whatever is compared is read; the numbers of this pair are not asked for.
            self.bridge.send(CompareRequest(OVERLAID, self.book.selected, run))
            self.main_screen.fill_curves(curves, self._compared)

        self._pick(chosen, "Draw over them", left_out=self.book.selected)


def is_about_jobs(wish: Open) -> bool:
    """True if jobs are what the user came for: nothing was named, or nothing else."""
    return wish.is_survey or all(_is_job(name) for name in wish.names)


def _is_job(name: str) -> bool:
    """A job by its number; what else may have such a name is a file."""
    is_number = name[:1].isdigit() and name.replace("_", "").replace("+", "").isdigit()
    return name.startswith("job:") or (is_number and not os.path.lexists(name))

"""The app: wiring between engine, screens, themes and the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from mltd.runs.errors import InputError, MltdError, SettingsError

from .bridge import Bridge
from .engine.protocol import (
    CompareRequest,
    Comparison,
    Curves,
    Diagnosed,
    News,
    Open,
    Rows,
    RunsFound,
    SeriesChanged,
    Survey,
    Trouble,
)
from .escaping import printable
from .log.reader import LogReader
from .logfile import log_path, write_entry
from .pane import PaneFailed
from .preferences import Memory
from .recent import RecentRuns
from .run_book import RunBook
from .screens.main import MainScreen
from .settings import ScreenSettings, config_directory
from .terminal import Terminal, own_environment, terminal_of
from .themed import ThemedApp
from .theming import load_themes

if TYPE_CHECKING:
    from textual.events import Key

    from .alerts import AlertBook, Notice
    from .replay import Replay
    from .screens.compare import CompareScreen
    from .screens.run_picker import RunPicker
    from .widgets.curves_pane import CurvesPane

ENGINE_PATIENCE = 8.0
"""Seconds; the engine says something every two, but may think for a few."""
COMPARED, OVERLAID = -1, -2
"""Tickets of the pair whose numbers are shown, and of runs that are only drawn."""
FAILURE_PAUSE = 60.0
"""Seconds between two notices about the same failure."""
HINTS = 5
"""Starts during which newcomers are told the most important keys."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asked for."""

    wish: Open
    theme: str | None = None
    settings: ScreenSettings = field(default_factory=ScreenSettings)


class MltdApp(ThemedApp):
    """Full-screen triage of training runs."""

    TITLE = "mltd-tui"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?", id="app.help"),
        Binding("ctrl+p", "command_palette", "Commands", id="app.commands", show=False),
        Binding("t", "next_theme", "Next theme", id="app.theme", show=False),
        Binding("q", "quit", "Quit", id="app.quit"),
        Binding("ctrl+c", "quit", "", id="app.interrupt", show=False, priority=True),
        Binding("less_than_sign", "speed(0.5)", "Replay slower", key_display="<",
                id="demo.slower", show=False),
        Binding("greater_than_sign", "speed(2)", "Replay faster", key_display=">",
                id="demo.faster", show=False),
    ]  # fmt: skip

    @dataclass
    class Heard(Message):
        """The engine said something."""

        news: News

    def __init__(
        self,
        wanted: Wanted,
        bridge: Bridge,
        *,
        terminal: Terminal | None = None,
        replay: Replay | None = None,
    ) -> None:
        self.memory = Memory()
        wishes = (wanted.theme, wanted.settings.theme, self.memory.preferences.theme)
        themes = load_themes()
        if wanted.theme is not None and themes.named(wanted.theme) is None:
            known = ", ".join(theme.name for theme in themes.themes)
            raise InputError(f"there is no theme called {wanted.theme!r}", hint=f"try: {known}")
        facts = terminal or terminal_of(own_environment(), wanted.settings.unicode)
        super().__init__(themes, facts, *wishes)
        self.wanted = wanted
        self.book = RunBook()
        self.hypotheses: list[str] = []
        self.problems: list[str] = []
        """Sentences for the terminal after the app has left it."""
        self._bridge = bridge
        self._replay = replay
        self._reader = LogReader()
        self._alerts: AlertBook | None = None
        self._recent = RecentRuns()
        self._told_failures: dict[tuple[str, str], float] = {}
        self._is_opened = False
        self._is_engine_dead = False
        self.early_signal = 0
        """One that came before there was anything to leave."""
        self._picker: RunPicker | None = None
        self._comparing: CompareScreen | None = None
        self._compared_curves: CurvesPane | None = None
        self._compared: tuple[int, ...] = ()
        """Runs drawn over the one being looked at."""
        self._keys: dict[str, str] = {}
        """The user's own keys, once they turned out to make sense."""
        files = tuple(name for name in wanted.wish.names if os.path.isfile(name))
        for path in files[:1]:
            self._reader.prepare(path)
        self.main_screen = self._main = MainScreen(self.book, self._reader, files[:1])

    # -- life -----------------------------------------------------------------------------

    def get_default_screen(self) -> Screen[Any]:
        """The main screen is the first thing drawn."""
        return self._main

    def on_mount(self) -> None:
        """Listen to the engine, and leave in good order when told to."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            # Outside the main thread, as in some tests, there are no signals to handle.
            with contextlib.suppress(ValueError, RuntimeError):
                loop.add_signal_handler(number, self._leave, number)
        self.set_interval(1.0, self._look_after_engine)
        self.theme_changed_signal.subscribe(self, lambda theme: self._remember_theme(theme.name))

    def on_main_screen_composed(self) -> None:
        """Now there is somebody to tell the news, and something to leave."""
        if self.early_signal:
            self._leave(self.early_signal)
            return
        self.run_worker(self._listen(), group="engine", exit_on_error=False)

    def on_main_screen_furnished(self) -> None:
        """What can wait until the first picture is there."""
        from . import keymap
        from .alerts import AlertBook
        from .commands import scopes

        self._has_arrived = True
        # What there is now stays: no collection needs to look at it again.
        gc.freeze()
        gc.enable()
        alerts = self._alerts = AlertBook()
        self.set_interval(1.0, lambda: self._announce(alerts.due(time.monotonic())))

        notices = [*self.themes.problems, self.memory.notice]
        wished = self.wanted.settings.theme
        if wished is not None and self.themes.named(wished) is None:
            notices.append(f"there is no theme called {wished!r}; config.toml asks for it")
        if self.wanted.settings.keys:
            try:
                path = str(config_directory() / "config.toml")
                self._keys = keymap.checked(self.wanted.settings.keys, scopes(self), path)
                self.set_keymap(self._keys)
            except SettingsError as problem:
                notices.append(str(problem))
        for notice in filter(None, notices):
            self.complain(notice)
        seen = self.memory.preferences.hints_seen
        if seen < HINTS:
            self._main.show_hint()
            if failed := self.memory.remember(hints_seen=seen + 1):
                self.complain(failed)

    def _remember_theme(self, name: str) -> None:
        self.notify(f"theme: {name}", timeout=2, markup=False)
        if problem := self.memory.remember(theme=name):
            self.complain(problem)

    def note_signal(self, number: int, _frame: object) -> None:
        """Somebody wants us gone before we have quite arrived."""
        self.early_signal = number

    def _leave(self, number: int) -> None:
        self.exit(return_code=128 + number)

    async def _listen(self) -> None:
        def hear(news: News) -> None:
            self.post_message(self.Heard(news))

        await self._bridge.listen(hear, self._engine_died)

    def _engine_died(self, is_restarted: bool) -> None:
        self._main.look_at_log()
        if is_restarted:
            self.complain(f"the engine ended and was started again; see {log_path()}")
        else:
            self._is_engine_dead = True
            self._look_after_engine()

    def _look_after_engine(self) -> None:
        """Say it where it is seen if what is on screen grows old for reasons of our own."""
        trouble = ""
        if self._is_engine_dead:
            trouble = f"the engine keeps dying; start mltd-tui anew, and see {log_path()}"
        elif self._bridge.silence > ENGINE_PATIENCE:
            trouble = f"the engine has not answered for {self._bridge.silence:.0f} s"
        self._main.show_trouble(trouble)

    def on_unmount(self) -> None:
        """Let go of the engine and the files."""
        self._bridge.close()
        self._reader.close()

    def on_key(self, event: Key) -> None:
        """Give letters that were typed ahead to the field that opened meanwhile.

        A field keeps its own letters: those that get here were on their way to a pane when the
        focus changed.
        """
        field = self.focused
        if isinstance(field, Input) and event.is_printable and event.character is not None:
            event.prevent_default()
            field.insert_text_at_cursor(event.character)

    # -- news and wishes ------------------------------------------------------------------

    def on_mltd_app_heard(self, event: Heard) -> None:
        """Tell everybody who shows it."""
        news = event.news
        self._main.hear(news)
        match news:
            case Trouble():
                self._trouble(news)
            case Diagnosed():
                self._alert(news)
            case RunsFound():
                self._found(news)
            case Rows() if self._picker is not None:
                self._picker.update_rows(news.rows)
            case Comparison() if self._comparing is not None and news.ticket == COMPARED:
                self._comparing.set_comparison(news)
            case SeriesChanged() if self._compared_curves is not None:
                self._main.fill_curves(self._compared_curves, self._compared)
            case Curves() if self._comparing is not None:
                self._comparing.set_curves(news)
            case _:
                pass

    def _found(self, news: RunsFound) -> None:
        for problem in news.problems:
            self.complain(problem)
        if self._picker is not None:
            self._picker.set_rows(tuple(self.book.rows.values()))
            return
        if self._is_opened:
            return
        self._is_opened = True
        if self.wanted.wish.is_survey:
            self.action_runs()
        elif news.rows:
            for name in () if self._replay else self.wanted.wish.names:
                self._recent.remember(name)
            self._main.select(0)
        elif news.problems:
            self.problems += news.problems
            self.exit(return_code=2)
        else:
            # A directory whose job has not written anything yet.
            self.action_runs()

    def _alert(self, news: Diagnosed) -> None:
        if self._alerts is None:
            return
        name, findings = self.book.name(news.run), news.diagnosis.findings
        status = self.book.of(news.run).status
        is_reading = status is not None and status.share_read < 1.0
        self._announce(
            self._alerts.judge(
                news.run, name, findings, time.monotonic(), is_catching_up=is_reading
            )
        )

    def _announce(self, notice: Notice | None) -> None:
        if notice is None:
            return
        self.notify(notice.text, title=notice.title, severity="error", timeout=12, markup=False)
        from .alerts import signals

        extra = signals(notice, self.wanted.settings, self.terminal)
        if extra and self._driver is not None:
            self._driver.write(extra)

    def on_main_screen_adopted(self, event: MainScreen.Adopted) -> None:
        """Keep a hypothesis; they are printed when the app is left."""
        if event.statement not in self.hypotheses:
            self.hypotheses.append(event.statement)
        text = f"{printable(event.statement)}\nprinted when you leave"
        self.notify(text, title=f"Hypothesis {len(self.hypotheses)}", markup=False)

    def on_main_screen_wished(self, event: MainScreen.Wished) -> None:
        """Pass a wish on to the engine."""
        self._bridge.send(event.wish)

    def on_curves_pane_wanted(self, event: CurvesPane.Wanted) -> None:
        """Curves of other screens come from the same engine."""
        self._bridge.send(event.request)

    def _trouble(self, news: Trouble) -> None:
        said = f"{news.message}; {news.hint}" if news.hint else news.message
        if news.details:
            write_entry(f"{news.message}\n{news.details}")
            said = f"{said}; see {log_path()}"
        self.complain(said)

    def on_pane_failed(self, event: PaneFailed) -> None:
        """A pane stumbled: say so, write down where, go on."""
        key = (event.pane, event.summary)
        now = time.monotonic()
        # The notice itself may make a broken pane draw, and fail, again.
        if now - self._told_failures.get(key, -FAILURE_PAUSE) < FAILURE_PAUSE:
            return
        self._told_failures[key] = now
        write_entry(f"{event.pane}: {event.details}")
        self.complain(f"{event.pane} stumbled: {event.summary}; see {log_path()}")

    def complain(self, text: str) -> None:
        """Tell the user something that is not as it should be."""
        self.notify(printable(text), severity="warning", timeout=8, markup=False)

    # -- actions --------------------------------------------------------------------------

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """What the palette offers: everything that has a key, and the themes."""
        from .commands import palette

        return palette(self, self._main)

    def action_help(self) -> None:
        """All keys."""
        from .commands import owners
        from .screens.help import HelpScreen, help_groups

        groups = help_groups(owners(self), self._keys, self.screen.focused)
        self.push_screen(HelpScreen(groups))

    def action_runs(self) -> None:
        """Pick the run to look at."""

        def chosen(run: int | None) -> None:
            if run is not None:
                if self._replay is None:
                    self._recent.remember(self.book.rows[run].path)
                self._main.select(run)

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

        def closed(run: int | None) -> None:
            self._picker = None
            self._bridge.send(Survey(False))
            chosen(run)

        self._bridge.send(Survey(True))
        rows = tuple(self.book.rows.values())
        directories = self.wanted.wish.names[:1]
        if not self.wanted.wish.is_survey and self.book.rows:
            directories = ()
        self._picker = RunPicker(
            rows,
            title=title,
            allows_close=allows_close,
            directories=directories,
            current=current,
            left_out=left_out,
        )
        self.push_screen(self._picker, closed)

    def _compare(self, before: int, after: int) -> None:
        from .screens.compare import CompareScreen

        curves = self._compared_curves = self._main.make_curves()
        self._compared = (after,)
        self._main.fill_curves(curves, self._compared)
        names = (self.book.name(before), self.book.name(after))
        self._bridge.send(CompareRequest(COMPARED, before, after))
        self._comparing = CompareScreen(*names, None, curves)

        def closed(_: None) -> None:
            self._comparing = self._compared_curves = None
            for request in curves.last_requests():
                self._bridge.send(request)

        self.push_screen(self._comparing, closed)

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
            self._bridge.send(CompareRequest(OVERLAID, self.book.selected, run))
            self._main.fill_curves(curves, self._compared)

        self._pick(chosen, "Draw over them", left_out=self.book.selected)

    def action_speed(self, factor: float) -> None:
        """Replay the demo slower or faster."""
        if self._replay is None:
            return
        try:
            self._replay.set_speed(self._replay.speed * factor)
            self.notify(f"replay at {self._replay.speed:g}x", timeout=2)
        except MltdError as problem:
            self.complain(str(problem))

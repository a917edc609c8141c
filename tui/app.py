"""The app: wiring between engine, screens, themes and the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from mltd.runs.errors import InputError, MltdError

from .bridge import Bridge
from .engine.protocol import (
    Diagnosed,
    News,
    Open,
    RunsFound,
    Select,
    Trouble,
)
from .inspecting_app import InspectingApp
from .log.reader import LogReader
from .logfile import log_path
from .picking import is_about_jobs
from .preferences import Memory
from .recent import RecentRuns
from .run_book import RunBook
from .screens.main import MainScreen
from .settings import ScreenSettings
from .terminal import Terminal, own_environment, terminal_of
from .theming import load_themes

if TYPE_CHECKING:
    from textual.events import Key

    from .replay import Replay
    from .widgets.curves_pane import CurvesPane

ENGINE_PATIENCE = 8.0
"""Seconds; the engine says something every two, but may think for a few."""
HINTS = 5
MISTAKES_SHOWN = 4
"""Mistakes in the configuration file that get a notice each."""
"""Starts during which newcomers are told the most important keys."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asked for."""

    wish: Open
    theme: str | None = None
    settings: ScreenSettings = field(default_factory=ScreenSettings)
    model: str = ""
    """Which one of Claude's to ask; empty for the usual one."""
    is_claude_off: bool = False
    sources: tuple[str, ...] = ()
    """Folders of code that Claude may read in."""


class MltdApp(InspectingApp):
    """Full-screen triage of training runs."""

    TITLE = "mltd-tui"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?", id="app.help"),
        Binding("ctrl+p", "command_palette", "Commands", id="app.commands", show=False),
        Binding("M", "notices", "Recent notices (messages)", id="app.notices", show=False),
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
        # What is done in a demo is kept as long as its recordings.
        folder = replay.directory / ".sessions" if replay is not None else None
        super().__init__(themes, facts, wanted.settings, *wishes, session_folder=folder)
        self.wanted = wanted
        self.book = RunBook(are_jobs_first=is_about_jobs(wanted.wish))
        self.problems: list[str] = []
        """Sentences for the terminal after the app has left it."""
        self.farewells: list[str] = []
        self.bridge = bridge
        self._replay = replay
        self._reader = LogReader()
        self.first_wish = wanted.wish
        self.recent = RecentRuns() if replay is None else None
        self._is_opened = False
        self._is_engine_dead = False
        self.early_signal = 0
        """One that came before there was anything to leave."""
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
        self._has_arrived = True
        # What there is now stays: no collection needs to look at it again.
        gc.freeze()
        gc.enable()
        self.begin_to_alert()
        self.begin_triage()

        for notice in filter(None, [*self.themes.problems, self.memory.notice]):
            self.complain(notice)
        self._tell_mistakes(self._mistakes_in_settings())
        seen = self.memory.preferences.hints_seen
        if seen < HINTS:
            self._main.show_hint()
            if failed := self.memory.remember(hints_seen=seen + 1):
                self.complain(failed)

    def _mistakes_in_settings(self) -> list[str]:
        """Apply the user's keys, and list what is wrong in the configuration file."""
        settings = self.wanted.settings
        mistakes = list(settings.config.told())
        if settings.theme is not None and self.themes.named(settings.theme) is None:
            mistakes.append(settings.theme_mistake)
        if settings.keys:
            from . import keymap
            from .commands import scopes

            checked = keymap.check_keymap(settings.keys, scopes(self))
            self._keys = checked.keymap
            self.set_keymap(self._keys)
            mistakes += [settings.key_mistake(*entry) for entry in checked.mistakes.items()]
        return mistakes

    def _tell_mistakes(self, mistakes: list[str]) -> None:
        for mistake in mistakes[:MISTAKES_SHOWN]:
            self.complain(mistake)
        if (more := len(mistakes) - MISTAKES_SHOWN) > 0:
            self.complain(f"config.toml: {more} more; `mltd-tui doctor` lists all of them")

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

        await self.bridge.listen(hear, self._engine_died)

    def _engine_died(self, is_restarted: bool) -> None:
        self._main.look_at_log()
        self.engine_ended()
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
        elif self.bridge.silence > ENGINE_PATIENCE:
            trouble = f"the engine has not answered for {self.bridge.silence:.0f} s"
        trouble = trouble or self.saving_trouble
        self._main.show_trouble(trouble)

    def on_unmount(self) -> None:
        """Let go of the engine and the files."""
        self.problems += self.close_sessions()
        self.farewells = self.kept_sessions()
        self.bridge.close()
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
        if not self.is_running:
            # The panes are being removed; only the session still has to learn of it.
            self.book.learn(news)
            self.hear_of_triage(news)
            return
        self._main.hear(news)
        self.hear_of_runs(news)
        self.hear_of_triage(news)
        match news:
            case Trouble():
                self.tell_trouble(news)
            case Diagnosed():
                self.alert(news)
            case RunsFound():
                self._found(news)
            case _:
                pass

    def _found(self, news: RunsFound) -> None:
        for problem in news.problems:
            self.complain(problem)
        if self.picker is not None:
            self.picker.set_rows(tuple(self.book.rows.values()))
            return
        if self._is_opened:
            return
        self._is_opened = True
        if self.wanted.wish.is_survey:
            self.action_runs()
        elif news.rows:
            if self.recent is not None:
                for name in self.wanted.wish.names:
                    self.recent.remember(name)
            self._main.select(0)
        elif news.problems:
            self.problems += news.problems
            self.exit(return_code=2)
        else:
            # A directory whose job has not written anything yet.
            self.action_runs()

    def on_main_screen_wished(self, event: MainScreen.Wished) -> None:
        """Pass a wish on to the engine."""
        self.bridge.send(event.wish)
        if isinstance(event.wish, Select):
            self.look_at_run(event.wish.run)

    def on_curves_pane_wanted(self, event: CurvesPane.Wanted) -> None:
        """Curves of other screens come from the same engine."""
        self.bridge.send(event.request)

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

    def action_speed(self, factor: float) -> None:
        """Replay the demo slower or faster."""
        if self._replay is None:
            return
        try:
            self._replay.set_speed(self._replay.speed * factor)
            self.notify(f"replay at {self._replay.speed:g}x", timeout=2)
        except MltdError as problem:
            self.complain(str(problem))

"""The part of the app that tells the user what is not as it should be, and what turned critical."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .engine.protocol import Diagnosed, Trouble
from .escaping import printable
from .logfile import log_path, write_entry
from .pane import PaneFailed
from .settings import ScreenSettings
from .terminal import Terminal
from .themed import ThemedApp
from .theming import LoadedThemes

if TYPE_CHECKING:
    from .alerts import AlertBook, Notice
    from .run_book import RunBook

FAILURE_PAUSE = 60.0
"""Seconds between two notices about the same failure."""


class NoticingApp(ThemedApp):
    """Notices on the screen, entries in the log file, a bell if that is wished."""

    book: RunBook

    def __init__(
        self,
        themes: LoadedThemes,
        terminal: Terminal,
        settings: ScreenSettings,
        *wishes: str | None,
    ) -> None:
        super().__init__(themes, terminal, *wishes)
        self._settings = settings
        self._alerts: AlertBook | None = None
        self._told_failures: dict[tuple[str, str], float] = {}

    def begin_to_alert(self) -> None:
        """Tell of findings that turn critical from now on."""
        from .alerts import AlertBook

        alerts = self._alerts = AlertBook()
        self.set_interval(1.0, lambda: self._announce(alerts.due(time.monotonic())))

    def alert(self, news: Diagnosed) -> None:
        """A run was judged: tell what is new and critical in it."""
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

        extra = signals(notice, self._settings, self.terminal)
        if extra and self._driver is not None:
            self._driver.write(extra)

    def tell_trouble(self, news: Trouble) -> None:
        """The engine met something that a user should know."""
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

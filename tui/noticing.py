"""The part of the app that tells the user what is not as it should be, and what turned critical."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.await_complete import AwaitComplete
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from .engine.protocol import Diagnosed, Trouble
from .escaping import printable
from .logfile import log_path, write_entry
from .notice_board import SECONDS, NoticeBoard, NoticeRecord, Severity
from .pane import PaneFailed
from .settings import ScreenSettings
from .terminal import Terminal
from .themed import ThemedApp
from .theming import LoadedThemes
from .widgets.notice_bar import NoticeBar

if TYPE_CHECKING:
    from .alerts import AlertBook, Notice
    from .run_book import RunBook
    from .screens.main import MainScreen
    from .widgets.findings_pane import FindingsPane

FAILURE_PAUSE = 60.0
"""Seconds between two notices about the same failure."""


class NoticingApp(ThemedApp):
    """Notices on the screen, entries in the log file, a bell if that is wished."""

    book: RunBook
    main_screen: MainScreen

    @dataclass
    class Noticed(Message):
        """There is something to tell the user."""

        notice: NoticeRecord

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
        self.notice_board = NoticeBoard()

    # -- notices --------------------------------------------------------------------------

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: Severity = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Tell the user something in a line at the bottom, from any thread."""
        text = Content.from_markup(message).plain if markup else message
        seconds = SECONDS[severity] if timeout is None else timeout
        self.post_message(self.Noticed(NoticeRecord(text, title, severity, seconds, time.time())))

    def on_noticing_app_noticed(self, event: Noticed) -> None:
        """Show a notice, or keep it until there is a place for it."""
        notice = event.notice
        is_seen = any(self._is_looked_at(run, name) for run, name in notice.findings)
        can_show = self._notice_bar() is not None
        if self.notice_board.add(notice, can_show=can_show, is_seen=is_seen):
            self._time_notice(notice)
            self._show_notices()

    def clear_notifications(self) -> None:
        """Take all notices out of sight."""
        self.notice_board.clear()
        self._show_notices()

    def action_notices(self) -> None:
        """Show the last notices in full."""
        from .screens.notices import NoticesScreen

        self.clear_notifications()
        self.push_screen(NoticesScreen(tuple(self.notice_board.history)))

    def pop_screen(self) -> AwaitComplete:
        """Show what had to wait while a dialog was open."""
        popped = super().pop_screen()
        self.call_later(self._release_notices)
        return popped

    def on_notice_bar_available(self) -> None:
        """Show what had to wait for another screen or a larger terminal."""
        self._release_notices()

    def on_notice_bar_clicked(self) -> None:
        """The user has read them."""
        self.clear_notifications()

    def _notice_bar(self) -> NoticeBar | None:
        """Where notices are shown now; dialogs and a terminal that is too small have no place."""
        screen: Screen[Any] | None = self.screen_stack[-1] if self.screen_stack else None
        if screen is None or not screen.is_mounted or screen.has_class("-too-small"):
            return None
        return next(iter(screen.query(NoticeBar)), None)

    def _release_notices(self) -> None:
        if self._notice_bar() is not None:
            for notice in self.notice_board.release():
                self._time_notice(notice)
            self._show_notices()

    def _time_notice(self, notice: NoticeRecord) -> None:
        def expire() -> None:
            if self.notice_board.dismiss(notice):
                self._show_notices()

        self.set_timer(notice.seconds, expire)

    def _show_notices(self) -> None:
        if (bar := self._notice_bar()) is not None:
            bar.show(self.notice_board.shown)

    # -- findings -------------------------------------------------------------------------

    def _is_looked_at(self, run: int, finding: str) -> bool:
        """True if the user looks at a finding: it is selected, and its pane is used or alone."""
        main = self.main_screen
        pane: FindingsPane | None = getattr(main, "findings", None)
        if pane is None or self.screen is not main or run != self.book.selected:
            return False
        is_used = pane.has_focus or main.is_viewing("findings")
        return is_used and pane.selected is not None and pane.selected.id == finding

    def on_findings_pane_selected(self, event: FindingsPane.Selected) -> None:
        """Another finding is selected: a notice about it is not needed any more."""
        self._dismiss_seen()

    def on_descendant_focus(self) -> None:
        """Another pane is used, perhaps that of the findings."""
        self._dismiss_seen()

    def _dismiss_seen(self) -> None:
        board = self.notice_board
        announced = {one for notice in board.history for one in notice.findings}
        for run, finding in announced:
            if self._is_looked_at(run, finding) and board.dismiss_about(run, finding):
                self._show_notices()

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
        from .alerts import signals

        record = NoticeRecord(
            notice.text, notice.title, "error", SECONDS["error"], time.time(), notice.findings
        )
        self.post_message(self.Noticed(record))

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
        self.notify(printable(text), severity="warning", markup=False)

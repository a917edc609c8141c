"""Searching in the log: asking for a pattern, going from match to match, marking them."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult

from mltd.runs.sources.line_scan import Conditions
from mltd.runs.sources.line_text import shown_text

from ..escaping import printable
from ..log.painting import TAB, no_matches
from ..log.reader import LogReader
from ..log.searching import LogSearch, Step
from .log_canvas import guarded
from .log_following import LogFollowing
from .log_search_bar import LINE, SEARCH, LogSearchBar

ERRORS = r"\b(?:ERROR|CRITICAL|FATAL|Traceback|[A-Z]\w*(?:Error|Exception)\b)|out of memory"
"""What somebody who looks for what went wrong searches for."""


class LogSearching(LogFollowing):
    """A view with a search bar; what is searched is what is shown."""

    def __init__(
        self,
        reader: LogReader,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(reader, id=id, clock=clock)
        self.search: LogSearch | None = None
        self._search_from: tuple[int, bool] | None = None
        self._is_learning = False
        self._is_match_wanted = False

    def compose(self) -> ComposeResult:
        """Only the bar is a widget; the lines are painted."""
        yield LogSearchBar()

    async def on_unmount(self) -> None:
        """The search must not outlive the pane."""
        if self.search is not None:
            await self.search.scanner.closed()

    def start_search(self) -> None:
        """Ask what to search for."""
        self._open_bar(SEARCH)

    def action_search(self) -> None:
        """Ask what to search for."""
        self.start_search()

    def action_errors(self) -> None:
        """Find errors; `n` and `N` go from one to the next."""
        self._search_for(ERRORS)

    def action_go_to_line(self) -> None:
        """Ask for a line number."""
        self._open_bar(LINE)

    def action_next_match(self) -> None:
        """To the next line that matches."""
        self._step(self.search.next(self._place) if self.search is not None else None, "top")

    def action_previous_match(self) -> None:
        """To the line before that matches."""
        self._step(self.search.previous(self._place) if self.search is not None else None, "end")

    def action_clear(self) -> None:
        """Search no more; if there is no search, show all lines again."""
        if self.search is not None:
            self.stop_search()
        elif self.conditions != Conditions():
            self.set_filter(Conditions())
        self.note = ""
        self.repaint(anew=True)
        self._retitle()

    def grown_to(self, size: int) -> None:
        """Search what is new."""
        if self.search is not None:
            self.search.scanner.extend(size)

    def set_filter(self, conditions: Conditions) -> None:
        """What is searched is what is shown."""
        super().set_filter(conditions)
        if self.search is not None:
            self._search_for(self.search.pattern, jump=False)

    def appeared(self) -> None:
        """There is something to search."""
        super().appeared()
        if self.search is not None and self.conditions == Conditions():
            self._search_for(self.search.pattern, jump=False)

    def _arrived(self) -> None:
        super()._arrived()
        if self.window is not None:
            self.grown_to(self.window.size)
        self._reveal_match()
        self._learn_matches()

    def _search_for(self, pattern: str, *, jump: bool = True) -> None:
        self.stop_search()
        self.search = LogSearch(pattern, self.conditions, self._search_changed)
        self.find_matches = self.search.matches
        self._search_from = (self._place, self.is_following) if jump else None
        self.feed.launch(self.search.scanner, self._place)
        self.repaint(anew=True)
        self._retitle()

    def stop_search(self) -> None:
        """Search no more."""
        if self.search is not None:
            self.feed.drop(self.search.scanner)
            self._straighten()
        self.search = None
        self.find_matches = no_matches

    @guarded
    def _search_changed(self) -> None:
        """More was found; the first match is shown at once, the count now and then."""
        search = self.search
        if search is not None and self._search_from is not None:
            offset, backwards = self._search_from
            step = search.first(offset, backwards=backwards)
            if step is not None:
                self._search_from = None
                self._step(step, "end" if backwards else "top")
        self.tell_soon()

    @guarded
    def tell(self) -> None:
        """Also where the matches on the screen are."""
        super().tell()
        self._learn_matches()

    def say(self, note: str) -> None:
        """Put a word about what was done into the frame."""
        self.note = note
        self._retitle()

    def _step(self, step: Step | None, other_end: str) -> None:
        if self.search is None:
            self.say("nothing is searched for; / begins")
            return
        self.note = self.search.note = ""
        if step is None:
            self._retitle()
            return
        if step.is_around:
            self.search.note = f"from the {other_end}"
        self._is_match_wanted = True
        self.go_to(step.offset)

    def _learn_matches(self) -> None:
        """Mark the matches of a pattern that is not tried in this process."""
        search = self.search
        if search is not None and search.is_curious and not self._is_learning:
            self._is_learning = True
            self.do(self._learn(search))

    async def _learn(self, search: LogSearch) -> None:
        try:
            is_new = await search.learn()
        finally:
            self._is_learning = False
        if is_new and search is self.search:
            self.repaint(anew=True)
            self._reveal_match()

    def _reveal_match(self) -> None:
        """Scroll sideways so that the match that was gone to can be seen."""
        line = self.viewport.current
        if not self._is_match_wanted or self.search is None or line is None or self.wraps:
            return
        text = shown_text(line.line.data).text
        spans = self.search.matches(text)
        if not spans:
            return
        self._is_match_wanted = False
        start, end = (cell_len(text[:place].expandtabs(TAB)) for place in spans[0])
        if not self.left <= start <= end <= self.left + self.text_columns:
            far = end > self.text_columns
            self.left = max(0, start - self.text_columns // 3) if far else 0
            self._went_sideways = True
            self.repaint(anew=True)

    def _open_bar(self, kind: str, text: str = "") -> None:
        self.rows_taken = 1
        self.query_one(LogSearchBar).open(kind, text)
        self.fit()

    @on(LogSearchBar.Entered)
    def _bar_entered(self, event: LogSearchBar.Entered) -> None:
        event.stop()
        self._close_bar()
        if event.kind == SEARCH:
            self._search_for(event.text)
        else:
            self.go_to_line(int(event.text[:18]))

    @on(LogSearchBar.Closed)
    def _bar_closed(self, event: LogSearchBar.Closed) -> None:
        event.stop()
        self._close_bar()

    def _close_bar(self) -> None:
        self.query_one(LogSearchBar).display = False
        self.rows_taken = 0
        self.screen.set_focus(self)
        self.fit()

    def status_words(self) -> list[str]:
        """Also how the search goes."""
        words = super().status_words()
        if self.search is not None:
            words.append(f"/{printable(self.search.pattern)}  {self.search.status(self._place)}")
        return words

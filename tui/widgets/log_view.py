"""A log on the screen: going to places of it, and saying where one is."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from mltd.runs.sources.line_scan import Conditions

from ..escaping import printable
from ..log import titles
from ..log.feed import Goal, Kind, LogFeed, Taken
from ..log.reader import LogReader
from .log_canvas import LogCanvas

PATIENCE_SECONDS = 0.5
"""After so long without an answer the pane says that it waits for the file."""


class LogView(LogCanvas):
    """Moves through one file; knows nothing of its growth, of searching or of keys."""

    def __init__(
        self,
        reader: LogReader,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(id=id)
        self.feed = LogFeed(reader, self._taken, self.filter_changed, self.report_failure)
        self.is_following = True
        self.new_lines = 0
        """Lines that came below what is shown since the log is paused."""
        self.file_place = ""
        """Which of several files this is: `1/3`."""
        self.conditions = Conditions()
        self.note = ""
        """Something to say until the next key."""
        self._place = 0
        self._wanted_line = 0
        self._owed_rows = self._owed_lines = 0
        self._went_sideways = False
        """A search did that, not the user."""
        self._counted_to = 0

    @property
    def path(self) -> str:
        """The file that is shown; empty if there is none."""
        return self.feed.path

    async def on_unmount(self) -> None:
        """Let go of everything that is under way."""
        await self.feed.close()

    def on_resize(self) -> None:
        """Use the room there is."""
        self.fit()

    def notify_style_update(self) -> None:
        """The titles have the colours of the theme too."""
        super().notify_style_update()
        if self.is_running:
            self.call_next(self._retitle)

    def fit(self) -> None:
        """Fill the rows that lines can be shown in."""
        self.feed.at_hand = max(60, 3 * self.rows)
        self.use_rows()
        self.repaint(anew=True)
        if self.viewport.needs_more():
            self._want_again()
        self._arrived()

    def use_rows(self) -> None:
        """Keep the end, or the current line, in view."""
        super().use_rows()
        if self.is_following:
            self.viewport.show_end()
        else:
            # The current line stays the current one, however few rows are left.
            self.viewport.reveal()
            self.viewport.scroll(0)

    def open_file(self, path: str) -> None:
        """Show the end of another file."""
        self.feed.open(path)
        self.window = None
        self.viewport.replace((), reaches_start=True, reaches_end=True)
        self.conditions = Conditions()
        self._digits = self.left = self._place = self._wanted_line = 0
        self.note = ""
        self.follow()
        if (prepared := self.feed.reader.take_prepared(path)) is not None:
            self._taken(Taken(Goal(Kind.END), prepared))
        self.set_timer(PATIENCE_SECONDS, self._be_patient)
        self.repaint(anew=True)

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that has to wait; what goes wrong is a notice."""

        async def guarded() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - a broken pane must not end the app
                self.report_failure(error)

        self.run_worker(guarded(), exit_on_error=False)

    # -- places -----------------------------------------------------------------------------

    def follow(self) -> None:
        """Go to the end and stay there while the file grows."""
        self._forget_wishes()
        self._straighten()
        self.is_following, self.new_lines = True, 0
        self.feed.want(Goal(Kind.END))
        self._retitle()

    def pause(self) -> None:
        """Stay here while the file grows."""
        self._forget_wishes()
        if self.is_following and self.window is not None:
            self._counted_to = self.window.size
        self.is_following = False

    def go_to(self, offset: int) -> None:
        """Make the line at an offset the current one."""
        self.pause()
        lines = self.viewport.lines
        shown = {lines[index].offset: index for index, _row in self.viewport.visible()}
        if offset in shown:
            self.viewport.cursor = shown[offset]
            self.viewport.reveal()
            self._arrived()
        else:
            self.feed.want(Goal(Kind.OFFSET, offset))

    def go_to_line(self, number: int) -> None:
        """Make the line with a number the current one, as soon as it is known where that is."""
        self.pause()
        self._straighten()
        if self.conditions != Conditions():
            self.set_filter(Conditions())
        self.feed.want(Goal(Kind.LINE, number))

    def scroll_rows(self, rows: int) -> None:
        """Move the screen, and the current line with it if it would be left behind."""
        self._prepare_to_move(rows)
        owed = self.viewport.scroll(rows)
        if owed and not self._is_file_end(rows):
            self._owed_rows = owed if rows > 0 else -owed
        elif rows > 0 and self.viewport.shows_end:
            self.viewport.show_end()
        elif owed:
            self.viewport.move(-len(self.viewport.lines))
        self._moved(rows)

    def move_lines(self, lines: int) -> None:
        """Make another line the current one; a line higher than the screen is scrolled through."""
        self._prepare_to_move(lines)
        above, below = self.viewport.hidden_rows()
        if (lines > 0 and below) or (lines < 0 and above):
            self.viewport.scroll(1 if lines > 0 else -1)
        else:
            owed = self.viewport.move(lines)
            if owed and not self._is_file_end(lines):
                self._owed_lines = owed if lines > 0 else -owed
        self._moved(lines)

    def set_filter(self, conditions: Conditions) -> None:
        """Show only lines that meet the conditions."""
        self.conditions = conditions
        near = self.window.size if self.is_following and self.window else self._place
        self.feed.set_filter(conditions, near)
        self._want_again()

    def _straighten(self) -> None:
        """Show lines from their beginning again: a search may have gone sideways."""
        self._went_sideways = False
        if self.left:
            self.left = 0
            self.repaint(anew=True)

    def _forget_wishes(self) -> None:
        self._owed_rows = self._owed_lines = self._wanted_line = 0

    def _prepare_to_move(self, direction: int) -> None:
        self.note = ""
        self.points_out = False
        if self._went_sideways:
            self._straighten()
        if direction < 0:
            self.pause()

    def _is_file_end(self, direction: int) -> bool:
        view = self.viewport
        return view.reaches_end if direction > 0 else view.reaches_start

    def _moved(self, direction: int) -> None:
        if direction > 0 and self.viewport.is_at_end:
            if not self.is_following:
                self.follow()
        elif self._owed_rows or self._owed_lines or self.viewport.needs_more():
            self._want_again()
        self._arrived()

    def _want_again(self) -> None:
        """Read once more what is on the screen, with more around it."""
        if self.is_following:
            self.feed.want(Goal(Kind.END))
            return
        lines = self.viewport.lines
        place = lines[self.viewport.top].offset if lines else self._place
        self.feed.want(Goal(Kind.KEEP, place))

    # -- what was read ----------------------------------------------------------------------

    def _taken(self, taken: Taken) -> None:
        goal, window = taken.goal, taken.window
        before, self.window = self.window, window
        if before is not None and before.generation not in (0, window.generation):
            self.began_anew()
            if not self.is_following:
                self.feed.want(Goal(Kind.OFFSET, window.start))
                return
        elif before is not None and window.completes(before):
            self.appeared()
        if goal.kind is Kind.LINE and taken.place is None:
            self._wanted_line = goal.value
            self.note = f"looking for line {goal.value:,}"
            self._arrived()
            self.took(is_flood=False)
            return
        was_empty, last_seen = not self.viewport.lines, self._last_offset()
        self.viewport.height = self.rows
        self.viewport.replace(
            window.lines, reaches_start=window.reaches_start, reaches_end=window.reaches_end
        )
        if goal.kind is Kind.END:
            self.viewport.show_end()
        elif goal.kind is not Kind.KEEP or was_empty:
            self._show(goal, taken.place)
        self._pay()
        self._arrived()
        self.took(is_flood=not was_empty and last_seen < self._first_offset())

    def took(self, *, is_flood: bool) -> None:
        """Lines were read and shown; a flood is more than a screenful since the last time."""

    def filter_changed(self) -> None:
        """The filter let more lines through."""

    def began_anew(self) -> None:
        """The file was cut or replaced."""
        self.note = "the file began anew"
        self._counted_to = self.new_lines = self._place = 0
        self.viewport.replace((), reaches_start=True, reaches_end=True)
        self.set_filter(self.conditions)

    def appeared(self) -> None:
        """The file has its first bytes, or those before the first that were here."""
        if self.conditions != Conditions():
            self.set_filter(self.conditions)

    def _show(self, goal: Goal, place: int | None) -> None:
        offset = goal.value if place is None else place
        self.viewport.show(offset, above=self.rows // 3)
        if goal.kind is Kind.LINE:
            self.note = ""
            line = self.viewport.current
            if line is not None and line.number is not None and line.number < goal.value:
                self.note = f"there is no line {goal.value:,}; this is the last one"

    def _pay(self) -> None:
        """Go on with a motion that ran out of lines."""
        rows, lines = self._owed_rows, self._owed_lines
        self._owed_rows = self._owed_lines = 0
        if rows:
            self.viewport.scroll(rows)
        if lines:
            self.viewport.move(lines)

    def _first_offset(self) -> int:
        lines = self.viewport.lines
        return lines[self.viewport.top].offset if lines else 0

    def _last_offset(self) -> int:
        lines = self.viewport.lines
        return lines[-1].offset if lines else 0

    def _arrived(self) -> None:
        """Show where we are now."""
        if self.viewport.current is not None:
            self._place = self.viewport.current.offset
        scanner = self.feed.filter
        self.placeholder = titles.empty(
            self.path,
            self.window,
            is_filtered=scanner is not None,
            is_scanned=scanner is not None and scanner.is_done,
        )
        self.repaint()
        self._retitle()

    def _be_patient(self) -> None:
        if self.window is None:
            self._arrived()

    # -- titles -----------------------------------------------------------------------------

    def _retitle(self) -> None:
        if not self.is_attached:
            return
        words = titles.title(
            self.path,
            self.file_place,
            self.window,
            is_following=self.is_following,
            new_lines=self.new_lines,
        )
        self.set_frame("title", words)
        said = [text for text in self.status_words() if text]
        self.set_frame("subtitle", [titles.Words(printable("  ·  ".join(said)), "quiet")])

    def status_words(self) -> list[str]:
        """What the lower edge of the frame says."""
        sideways = f"from column {self.left + 1}" if self.left else ""
        said = [self.note, sideways, self.window.note if self.window is not None else ""]
        scanner = self.feed.filter
        if scanner is not None:
            said.append(
                titles.filter_words(
                    self.conditions,
                    len(scanner.hits),
                    is_done=scanner.is_done,
                    share=scanner.share,
                )
            )
            said.append(scanner.problem)
        return said

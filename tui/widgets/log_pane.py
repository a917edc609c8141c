"""The log pane: a virtual view of a file of any size, with search, filter, marks and copying."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from mltd.runs.sources.line_scan import Conditions
from mltd.runs.sources.line_text import shown_text
from mltd.runs.sources.pieces import LINES_MISSING

from ..engine.protocol import LogFile
from ..log.clipboard import copy, fitting
from ..log.reader import LogReader
from ..screens.log_filter import LogFilterScreen
from .log_searching import LogSearching

UNREADABLE_FORMATS = frozenset({"tensorboard", "wandb", "mlflow", "mlflow-run"})
"""Files of these kinds have no lines."""
SIDEWAYS_COLUMNS = 8
WHEEL_ROWS = 3


class LogPane(LogSearching, can_focus=True):
    """Shows the logs of a run, one at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "toggle_follow", "Follow", id="log.follow"),
        Binding("slash", "search", "Search", key_display="/", show=False, id="log.search"),
        Binding("n", "next_match", "Next match", show=False, id="log.next_match"),
        Binding("N", "previous_match", "Previous match", show=False, id="log.previous_match"),
        Binding("ampersand", "filter", "Filter", key_display="&", id="log.filter"),
        Binding("w", "toggle_wrap", "Wrap", id="log.wrap"),
        Binding("m", "mark", "Mark", show=False, id="log.mark"),
        Binding("apostrophe", "next_mark", "Next mark", key_display="'", show=False,
                id="log.next_mark"),
        Binding("y", "copy", "Copy", id="log.copy"),
        Binding("colon,ctrl+g", "go_to_line", "Go to line", key_display=":", show=False,
                id="log.go_to_line"),
        Binding("enter", "to_curve", "To the curve", show=False, id="log.to_curve"),
        Binding("f", "next_file(1)", "Next file", show=False, id="log.next_file"),
        Binding("F", "next_file(-1)", "Previous file", show=False, id="log.previous_file"),
        Binding("up,k", "move(-1)", "Up", show=False, id="log.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="log.down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="log.page_up"),
        Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False, id="log.page_down"),
        Binding("ctrl+u", "page(-0.5)", "Half page up", show=False, id="log.half_page_up"),
        Binding("ctrl+d", "page(0.5)", "Half page down", show=False, id="log.half_page_down"),
        Binding("home,g", "first", "First line", show=False, id="log.first"),
        Binding("end,G", "last", "Last line, follow", show=False, id="log.last"),
        Binding("exclamation_mark", "errors", "Next error", key_display="!", show=False,
                id="log.errors"),
        Binding("left", "sideways(-1)", "Scroll left", show=False, id="log.left"),
        Binding("right", "sideways(1)", "Scroll right", show=False, id="log.right"),
        Binding("escape", "clear", "Clear search", show=False, id="log.clear"),
    ]  # fmt: skip

    @dataclass
    class PlaceWanted(Message):
        """The user wants to see on the curve what this line says."""

        path: str
        line: int

    @dataclass
    class Copied(Message):
        """This text was handed to the terminal's clipboard."""

        text: str
        lines: int

    def __init__(
        self,
        reader: LogReader,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(reader, id=id, clock=clock)
        self.files: tuple[LogFile, ...] = ()
        self._marks: dict[str, set[int]] = {}
        self._is_file_chosen = False
        """The user went to this file; nobody else changes it then."""

    # -- facts ------------------------------------------------------------------------------

    def set_files(self, files: tuple[LogFile, ...]) -> None:
        """These are the logs of the run; what is shown stays, if it is one of them."""
        readable = tuple(file for file in files if file.format not in UNREADABLE_FORMATS)
        self.files = readable
        for file in readable:
            self.feed.reader.confine(file.path, file.root)
        paths = [file.path for file in readable]
        if self.path not in paths:
            self._is_file_chosen = False
            texts = [file for file in readable if file.format in ("", "text")] or readable
            best = max(texts, key=lambda file: file.lines, default=None)
            self._open(best.path if best is not None else "")
        self._place_among_files()

    def files_grew(self, paths: Iterable[str]) -> None:
        """These files changed a moment ago."""
        if self.path and self.path in paths:
            self.file_grew()

    def suggest(self, path: str) -> None:
        """Show this file, unless the user has chosen one."""
        paths = [file.path for file in self.files]
        if path != self.path and not self._is_file_chosen and path in paths:
            self._open(path)
            self._place_among_files()

    def show_line(self, path: str, line: int) -> None:
        """Point out one line of a file."""
        self._is_file_chosen = True
        if path != self.path:
            self._open(path)
            self._place_among_files()
        self.go_to_line(line)
        self.points_out = True

    def _open(self, path: str) -> None:
        self.stop_search()
        self.marked = self._marks.setdefault(path, set())
        self.open_file(path)

    def _place_among_files(self) -> None:
        paths = [file.path for file in self.files]
        is_one_of_many = len(paths) > 1 and self.path in paths
        self.file_place = f"{paths.index(self.path) + 1}/{len(paths)}" if is_one_of_many else ""
        self._retitle()

    def status_words(self) -> list[str]:
        """Also whether lines may be missing."""
        words = super().status_words()
        if any(file.has_gap for file in self.files if file.path == self.path):
            words.insert(0, LINES_MISSING)
        return words

    # -- moving -----------------------------------------------------------------------------

    def action_move(self, lines: int) -> None:
        """To the next or the previous line."""
        self.move_lines(lines)

    def action_page(self, pages: float) -> None:
        """By a screen, or half of one."""
        rows = max(1, self.rows - 1) if abs(pages) == 1 else max(1, self.rows // 2)
        self.scroll_rows(rows if pages > 0 else -rows)

    def action_first(self) -> None:
        """To the beginning."""
        self._prepare_to_move(-1)
        self.go_to(self.window.start if self.window is not None else 0)

    def action_last(self) -> None:
        """To the end, and stay there."""
        self._prepare_to_move(1)
        self.follow()

    def action_toggle_follow(self) -> None:
        """Stay at the end while the file grows, or stay here."""
        self._prepare_to_move(0)
        if self.is_following:
            self.pause()
            self._retitle()
        else:
            self.follow()

    def action_sideways(self, direction: int) -> None:
        """Show what is further to the right, or to the left."""
        if not self.wraps:
            self.left = max(0, self.left + direction * SIDEWAYS_COLUMNS)
            self.repaint(anew=True)

    def action_toggle_wrap(self) -> None:
        """Break long lines, or cut them at the edge."""
        self.wraps = not self.wraps
        self.left = 0
        self.note = "long lines are wrapped" if self.wraps else "long lines are cut"
        self.repaint(anew=True)
        if self.is_following:
            self.viewport.show_end()
        else:
            self.viewport.scroll(0)
            self.viewport.reveal()
        self._arrived()

    def action_next_file(self, direction: int) -> None:
        """Show another log of the run."""
        paths = [file.path for file in self.files]
        if len(paths) < 2:
            self.say("this run has no other log")
            return
        self._is_file_chosen = True
        place = paths.index(self.path) if self.path in paths else -1
        self._open(paths[(place + direction) % len(paths)])
        self._place_among_files()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the screen."""
        event.stop()
        self.scroll_rows(WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the screen."""
        event.stop()
        self.scroll_rows(-WHEEL_ROWS)

    def on_click(self, event: events.Click) -> None:
        """A click chooses a line, or a place of the file at the right edge."""
        place = event.get_content_offset(self)
        visible = self.viewport.visible()
        if place is None or not visible or self.window is None:
            return
        if place.x >= self.size.width - 1:
            share = place.y / max(1, self.rows - 1)
            self.go_to(self.window.start + int((self.window.size - self.window.start) * share))
        elif place.y < len(visible):
            self.move_lines(visible[place.y][0] - self.viewport.cursor)

    # -- filter, marks, copying -------------------------------------------------------------

    def action_filter(self) -> None:
        """Ask which lines to show."""
        self.app.push_screen(LogFilterScreen(self.conditions), self._filter_chosen)

    def _filter_chosen(self, conditions: Conditions | None) -> None:
        if conditions is not None and conditions != self.conditions:
            self.set_filter(conditions)

    def action_mark(self) -> None:
        """Mark the current line, or take its mark away."""
        line = self.viewport.current
        if line is not None:
            self.marked ^= {line.offset}
            self._arrived()

    def began_anew(self) -> None:
        """Nothing that was found or marked is there any more."""
        self.marked.clear()
        super().began_anew()

    def action_next_mark(self) -> None:
        """To the next marked line."""
        if not self.marked:
            self.say("no line is marked; m marks one")
            return
        marks = sorted(self.marked)
        self.go_to(next((mark for mark in marks if mark > self._place), marks[0]))

    def action_copy(self) -> None:
        """Copy the marked lines, or the current one."""
        self.do(self._copy())

    async def _copy(self) -> None:
        line = self.viewport.current
        offsets = sorted(self.marked) or ([line.offset] if line is not None else [])
        window = await self.feed.reader.ask(self.path, lambda log: log.at(offsets))
        texts = [shown_text(line.line.data).text for line in window.lines]
        if not texts:
            self.say("there is nothing to copy")
            return
        text = "\n".join(texts)
        copy(self.app, text)
        self.post_message(self.Copied(text, len(texts)))
        said = f"copied {len(texts):,} lines" if len(texts) > 1 else "copied this line"
        if fitting(text) != text:
            said = f"copied the first {len(fitting(text)):,} characters; terminals take no more"
        self.say(said)

    def action_to_curve(self) -> None:
        """Show on the curve what the current line says."""
        self.do(self._want_place())

    async def _want_place(self) -> None:
        line = self.viewport.current
        if line is None:
            return
        number = await self.feed.reader.ask(self.path, lambda log: log.number_of(line.offset))
        if number is None:
            self.say("the lines before this one are still being counted")
        else:
            self.post_message(self.PlaceWanted(self.path, number))

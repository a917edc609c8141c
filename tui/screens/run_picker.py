"""The run picker: every run there is, how it is doing, and a filter that needs no key."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from ..engine.protocol import JobsAsked, RunRow
from ..escaping import printable
from ..job_text import described, headline_of
from ..run_list import Heading, Line, Order, Place, arrange, state_word
from ..widgets.notice_bar import NoticeBar
from ..widgets.run_table import RunTable

_AGES_EVERY = 5.0
"""Seconds; ages are shown in minutes, but for the moment at which jobs were asked for."""
_LONGEST_FILTER = 200


class RunPicker(ModalScreen[int | str | None]):
    """Ends with the number of the chosen run, with a path that was typed, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,tab", "sort", "Sort", key_display="^s", id="picker.sort"),
        Binding("escape", "back", "Close", id="picker.close"),
        Binding("ctrl+q", "give_up", "Quit", id="picker.quit"),
        Binding("enter", "open_path", "Open this path", id="picker.path", show=False),
        Binding("backspace", "rub_out", "Rub out", id="picker.rub_out", show=False),
        Binding("ctrl+w", "rub_out_word", "Rub out a word", id="picker.rub_out_word", show=False),
        Binding("ctrl+u", "clear", "Clear the filter", id="picker.clear", show=False),
    ]
    AUTO_FOCUS = "RunTable"
    table = query_one(RunTable)

    def __init__(
        self,
        rows: Sequence[RunRow] = (),
        *,
        title: str = "runs",
        allows_close: bool = True,
        directories: Sequence[str] = (),
        current: int | None = None,
        left_out: int | None = None,
        asked: JobsAsked | None = None,
        are_jobs_first: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.allows_close = allows_close
        self.wanted = ""
        """What was typed."""
        self.order = Order.NEWEST
        self._left_out = left_out
        """A run that makes no sense to pick."""
        self._rows = self._offered(rows)
        self._caption = title
        self._place = Place(tuple(directories), are_jobs_first, asked)
        self._current = current
        """The run to point at first."""
        self._clock = clock

    def compose(self) -> ComposeResult:
        """What is typed, the runs, more about one of them."""
        with Vertical(id="picker") as dialog:
            dialog.border_title = Content(printable(self._caption))
            yield Static(id="picker-filter", markup=False)
            yield RunTable(
                clock=self._clock, are_jobs_first=self._place.are_jobs_first, id="picker-runs"
            )
            yield Static(id="picker-more", markup=False)
            yield Footer(compact=True, show_command_palette=False)
        yield NoticeBar()

    def on_mount(self) -> None:
        """Show what is known so far."""
        self._arrange(from_top=True)
        if self._current is not None:
            self.table.point_at(self._current)
        self.set_interval(_AGES_EVERY, self.table.tick)

    # -- facts -------------------------------------------------------------------------------

    def set_rows(self, rows: Sequence[RunRow]) -> None:
        """These are the runs now."""
        self._rows = self._offered(rows)
        if self.is_mounted and self.is_attached:
            self._arrange()

    def update_rows(self, rows: Sequence[RunRow]) -> None:
        """Newer rows of some runs."""
        self._rows.update(self._offered(rows))
        if self.is_mounted and self.is_attached:
            self._arrange()

    def set_jobs(self, asked: JobsAsked) -> None:
        """The schedulers were asked for the user's jobs."""
        self._place = replace(self._place, asked=asked)
        if self.is_mounted and self.is_attached:
            self._arrange()

    def _offered(self, rows: Sequence[RunRow]) -> dict[int, RunRow]:
        return {row.run: row for row in rows if row.run != self._left_out}

    def _arrange(self, *, from_top: bool = False) -> None:
        lines = arrange(self._rows.values(), self.wanted, self.order, self._place)
        self.table.set_empty(self._excuse())
        self.table.set_lines(lines, from_top=from_top or self._have_jobs_come(lines))
        shown = sum(not isinstance(line, Heading) for line in lines)
        filtered = f"{shown:,} of " if self.wanted else ""
        known = sum(not row.is_gone for row in self._rows.values())
        runs = "1 run" if known == 1 else f"{known:,} runs"
        counted = f"{filtered}{runs}, {self.order.described}"
        dialog = self.query_one("#picker", Vertical)
        # Setting it draws the whole dialog again, even to the same text.
        if dialog.border_subtitle != counted:
            dialog.border_subtitle = Content(counted)
        typed = Content.assemble(
            ("filter ", "$quiet"), (printable(self.wanted), "bold"), ("▏", "$quiet")
        )
        has_jobs = any(row.job is not None for row in self._rows.values())
        what = "job, name, state, node or finding" if has_jobs else "name, state or finding"
        hint = Content.assemble((f"type to filter by {what}", "$quiet"))
        self._say("#picker-filter", typed if self.wanted else hint)

    def _have_jobs_come(self, lines: list[Line]) -> bool:
        """True if jobs are above everything now, and the user has not gone anywhere yet."""
        if self.table.has_moved or self._current is not None or not self._place.are_jobs_first:
            return False
        return _has_job(lines) and not _has_job(self.table.lines)

    def _excuse(self) -> str:
        if self._is_path:
            return f"Enter opens {self.wanted}"
        if self._rows:
            return f"no run matches “{self.wanted}”: Esc clears the filter, a whole path opens it"
        place = ", ".join(self._place.directories) or os.getcwd()
        return f"no runs under {place}: give a log file, or start in the directory of your runs"

    @property
    def _is_path(self) -> bool:
        return "/" in self.wanted or self.wanted.startswith(("~", "job:"))

    def action_open_path(self) -> None:
        """Open what was typed, if it is a path and no run is called so."""
        if self._is_path or (self.wanted and os.path.lexists(self.wanted)):
            self.dismiss(self.wanted)

    def _say(self, selector: str, content: Content) -> None:
        """Change a line only if it differs: every change is sent to the terminal."""
        line = self.query_one(selector, Static)
        if line.content != content:
            line.update(content)

    # -- typing ------------------------------------------------------------------------------

    def on_key(self, event: Key) -> None:
        """Whatever can be printed is part of the filter."""
        if event.character is not None and event.is_printable:
            event.stop()
            event.prevent_default()
            self._filter(self.wanted + event.character)

    def on_paste(self, event: Paste) -> None:
        """A pasted name is typed at once."""
        event.stop()
        self._filter(self.wanted + " ".join(event.text.split()))

    def _filter(self, wanted: str) -> None:
        wanted = wanted.lstrip()[:_LONGEST_FILTER]
        if wanted != self.wanted:
            self.wanted = wanted
            self._arrange(from_top=True)
            self.refresh_bindings()

    def action_rub_out(self) -> None:
        """Take the last letter away."""
        self._filter(self.wanted[:-1])

    def action_rub_out_word(self) -> None:
        """Take the last word away."""
        self._filter(self.wanted.rstrip().rpartition(" ")[0])

    def action_clear(self) -> None:
        """Show all runs."""
        self._filter("")

    def action_sort(self) -> None:
        """Go to the next order, and to what comes first in it."""
        self.order = self.order.following
        self._arrange(from_top=True)

    # -- leaving -----------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where there is nothing behind the picker, one can only quit."""
        if action == "back":
            return self.allows_close or bool(self.wanted)
        return action != "give_up" or not self.allows_close

    def action_give_up(self) -> None:
        """There is no run to look at: leave the app."""
        self.app.exit()

    def action_back(self) -> None:
        """Clear the filter; without one, leave."""
        if self.wanted:
            self._filter("")
        elif self.allows_close and self.is_current:
            self.dismiss(None)

    def on_run_table_chosen(self, event: RunTable.Chosen) -> None:
        """That one."""
        event.stop()
        if self.is_current:
            self.dismiss(event.run)

    def on_run_table_pointed(self, event: RunTable.Pointed) -> None:
        """Say about one run what its line has no room for."""
        event.stop()
        row = event.row
        if row is None:
            self._say("#picker-more", Content(""))
            return
        said = headline_of(row, self._clock())
        verdict = said or (state_word(row) if not row.state else f"{row.health}")
        colour = "$quiet" if row.health == "unknown" else f"$severity-{row.health}"
        path = os.path.join(row.path, "")
        if row.job is not None:
            path = f"{next(described(row.job, self._clock()))}  {path}"
        self._say(
            "#picker-more",
            Content.assemble((printable(verdict), colour), "\n", (printable(path), "$quiet")),
        )


def _has_job(lines: list[Line]) -> bool:
    return any(not isinstance(line, Heading) and line.job is not None for line in lines[:2])

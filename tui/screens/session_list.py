"""The list of sessions: open, rename, put away, delete, find."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from ..escaping import printable
from ..run_list import Heading
from ..widgets.key_line import KeyLine
from ..widgets.notice_bar import NoticeBar
from ..widgets.session_table import SessionRow, SessionTable, arrange
from ..widgets.steady_input import SteadyInput
from .confirm import ConfirmScreen

_AGES_EVERY = 10.0
"""Seconds; ages are shown in minutes."""
_NONE_YET = (
    "no sessions yet. A session keeps a triage: open a run and press h on a finding, "
    "and it begins with that finding as its first hypothesis"
)


class SessionListScreen(Screen[str | None]):
    """Ends with the id of the session to open, or with nothing; it touches no file itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/", id="sessions.search"),
        Binding("R", "rename", "Rename", id="sessions.rename"),
        Binding("A", "archive", "Archive", id="sessions.archive"),
        Binding("x", "report", "Report", id="sessions.report"),
        Binding("d,delete", "delete", "Delete", key_display="d", id="sessions.delete"),
        Binding("h,H", "flip_archived", "Archived", key_display="h", id="sessions.archived"),
        Binding("escape,q", "back", "Back", key_display="Esc", id="sessions.close"),
    ]
    AUTO_FOCUS = "SessionTable"
    table = query_one(SessionTable)
    _field = query_one("#sessions-search", Input)

    @dataclass
    class Renamed(Message):
        """A session is to have another title."""

        id: str
        title: str

    @dataclass
    class Archived(Message):
        """A session is to be put away, or brought back."""

        id: str
        is_archived: bool

    @dataclass
    class Deleted(Message):
        """A session is to be deleted for good; the user has agreed."""

        id: str

    @dataclass
    class ReportWanted(Message):
        """A report about a session is to be written."""

        id: str

    def __init__(
        self,
        rows: Sequence[SessionRow] = (),
        *,
        current: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._rows = tuple(rows)
        self._current = current
        """Id of the session that is open now."""
        self._clock = clock
        self.shows_archived = False

    def compose(self) -> ComposeResult:
        """A search, the sessions, more about one of them, the keys."""
        with Vertical(id="sessions", classes="pane") as pane:
            pane.border_title = Content("sessions")
            yield SteadyInput(
                placeholder="title, run, hypothesis or id",
                select_on_focus=False,
                id="sessions-search",
            )
            yield SessionTable(self._current, clock=self._clock, id="sessions-table")
            yield Static(id="sessions-more", markup=False)
        yield KeyLine(id="sessions-keys")
        yield NoticeBar()

    def on_mount(self) -> None:
        """Show what is known, and begin at the session that is open."""
        self._field.display = False
        self._arrange(from_top=True)
        self.table.point_at(self._current)
        self.set_interval(_AGES_EVERY, self.table.refresh)

    # -- facts -------------------------------------------------------------------------------

    def set_rows(self, rows: Sequence[SessionRow]) -> None:
        """These are the sessions now."""
        self._rows = tuple(rows)
        if self.is_mounted:
            self._arrange()

    @property
    def wanted(self) -> str:
        """What is searched for."""
        return self._field.value if self._field.display else ""

    def _arrange(self, *, from_top: bool = False) -> None:
        lines = arrange(self._rows, self.wanted, shows_archived=self.shows_archived)
        self.table.set_empty(self._excuse())
        self.table.set_lines(lines, from_top=from_top)
        shown = sum(not isinstance(line, Heading) for line in lines)
        total = len(self._rows)
        counted = f"{shown:,} of {total:,} sessions" if shown != total else _counted(total)
        hidden = 0 if self.shows_archived else sum(row.is_archived for row in self._rows)
        pane = self.query_one("#sessions", Vertical)
        hint = f", {hidden:,} archived" if hidden else ""
        pane.border_subtitle = Content(counted + hint if total else "")

    def _excuse(self) -> str:
        if not self._rows:
            return _NONE_YET
        if self.wanted.strip():
            also = "" if self.shows_archived else ", h looks into the archive too"
            return f"no session matches “{self.wanted}”: Esc clears the search{also}"
        return "all sessions are archived: h shows them"

    def on_session_table_pointed(self, event: SessionTable.Pointed) -> None:
        """Say about one session what its line has no room for."""
        event.stop()
        row = event.row
        more = self.query_one("#sessions-more", Static)
        if row is None:
            more.update(Content(""))
            return
        told = "$severity-critical" if row.problem else "$foreground"
        began = f"since {row.created.astimezone():%Y-%m-%d %H:%M}" if row.created else ""
        runs = ", ".join(row.runs)
        facts = "  ·  ".join(filter(None, (row.id, began, runs, "archived" * row.is_archived)))
        more.update(
            Content.assemble(
                (printable(row.problem or row.headline or "no hypothesis yet"), told),
                "\n",
                (printable(facts), "$quiet"),
            )
        )
        self.refresh_bindings()

    # -- searching ---------------------------------------------------------------------------

    def action_search(self) -> None:
        """Show only what matches what is typed now."""
        self._field.display = True
        self.set_focus(self._field)

    @on(Input.Changed)
    def _searched(self, event: Input.Changed) -> None:
        event.stop()
        self._arrange(from_top=True)

    @on(Input.Submitted)
    def _found(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_focus(self.table)

    def key_down(self) -> None:
        """From the search down to what it found."""
        self.set_focus(self.table)

    def action_back(self) -> None:
        """Give up the search first, and the list then."""
        if not self._field.display:
            self.dismiss(None)
            return
        self._field.value = ""
        self._field.display = False
        self.set_focus(self.table)
        self._arrange()

    # -- wishes ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What cannot be read can only be deleted."""
        if action in ("rename", "archive", "report", "delete"):
            row = self.table.current if self.is_mounted else None
            return row is not None and (action == "delete" or not row.problem)
        return action != "search" or not self.is_mounted or not self._field.has_focus

    def on_session_table_chosen(self, event: SessionTable.Chosen) -> None:
        """That one; if it can be read."""
        event.stop()
        if event.row.problem:
            said = printable(event.row.problem)
            self.notify(said, title="It cannot be opened", severity="warning", markup=False)
        else:
            self.dismiss(event.row.id)

    def action_rename(self) -> None:
        """Ask for another title."""
        from ..forms.session import rename_form
        from .form import form_screen

        row = self.table.current
        if row is None:
            return
        form = rename_form(row.title)

        def rename(values: dict[str, str] | None) -> None:
            if values is not None and values["title"] != row.title:
                self.post_message(self.Renamed(row.id, form.read(values).title))

        self.app.push_screen(form_screen(form), rename)

    def action_archive(self) -> None:
        """Put it away, or bring it back."""
        row = self.table.current
        if row is not None:
            self.post_message(self.Archived(row.id, not row.is_archived))

    def action_report(self) -> None:
        """Ask for a report about it."""
        row = self.table.current
        if row is not None:
            self.post_message(self.ReportWanted(row.id))

    def action_delete(self) -> None:
        """Delete it, once the user has agreed."""
        row = self.table.current
        if row is None:
            return

        def delete(is_agreed: bool | None) -> None:
            if is_agreed:
                self.post_message(self.Deleted(row.id))

        self.app.push_screen(
            ConfirmScreen(
                f"Delete “{row.title or row.id}”?",
                _loss(row, is_open=row.id == self._current),
                yes="delete it",
                no="keep it",
            ),
            delete,
        )

    def action_flip_archived(self) -> None:
        """Show what was put away, or hide it."""
        self.shows_archived = not self.shows_archived
        self._arrange()


def _counted(total: int) -> str:
    return "1 session" if total == 1 else f"{total:,} sessions"


def _loss(row: SessionRow, *, is_open: bool) -> str:
    """What is gone afterwards, and what is not."""
    hypotheses = "1 hypothesis" if row.hypotheses == 1 else f"{row.hypotheses} hypotheses"
    experiments = "1 experiment" if row.experiments == 1 else f"{row.experiments} experiments"
    kept = f"{hypotheses} and {experiments}, with notes and verdicts, are gone for good."
    what = "What could still be read of it is gone for good." if row.problem else kept
    now = "\nIt is the session that is open now." if is_open else ""
    return f"{what}{now}\nRuns, logs and reports stay. To keep it out of sight, archive it (A)."

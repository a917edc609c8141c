"""The part of the app that works on the session: forms, the list of sessions, the report."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual.message import Message

from mltd.runs.errors import InputError, MltdError
from mltd.runs.name_text import path_of
from mltd.runs.private_temp import private_temp_folder

from .engine.protocol import News, Open, Reported, ReportRequest
from .escaping import printable
from .experimenting import ExperimentingApp

if TYPE_CHECKING:
    from mltd.sessions.model.evidence import EvidenceRef
    from mltd.sessions.model.session import Session
    from mltd.sessions.storage.open_session import OpenSession
    from mltd.sessions.storage.store import SessionStore, SessionSummary

    from .desk.desk import Desk
    from .forms.form import Form
    from .forms.report import ReportWish
    from .screens.session_list import SessionListScreen
    from .widgets.checklist_pane import ChecklistPane

Result = TypeVar("Result")
REPORT = -3
"""Ticket of the report that is being written."""


class SessionKeepingApp(ExperimentingApp):
    """What keys in the checklist and in the list of sessions do."""

    _list: SessionListScreen | None = None

    @dataclass
    class Listed(Message):
        """The sessions that there are."""

        rows: list[SessionSummary]
        problem: str = ""

    @dataclass
    class Opened(Message):
        """A session was opened from the list, or why not."""

        opened: OpenSession | None
        problem: str = ""

    def hear_of_triage(self, news: News) -> None:
        """Also of reports."""
        super().hear_of_triage(news)
        if isinstance(news, Reported):
            self._reported(news)

    # -- a room for the hand --------------------------------------------------------------

    def on_checklist_pane_wanted(self, event: ChecklistPane.Wanted) -> None:
        """Do what a key in the checklist asks for."""
        event.stop()
        if event.verb == "save_elsewhere":
            self.action_save_elsewhere()
        elif event.verb == "take_over":
            self._take_over()
        elif self.desk is None:
            self.complain("there is no session yet: the run is still being read")
        elif self.desk.why_read_only and event.verb != "verdict":
            self.complain(f"the session is read-only: {self.desk.why_read_only}")
        else:
            from .desk.hand import Hand

            hand = Hand(self, self.desk)
            hand.carry_out(event.verb, event.kind, event.id, event.amount, event.evidence)

    def on_checklist_pane_evidence_chosen(self, event: ChecklistPane.EvidenceChosen) -> None:
        """Show the place that a piece of evidence names, in the run that it is about."""
        event.stop()
        run = self.desk.session.run(event.evidence.run) if self.desk is not None else None
        number = self.number_of(run) if run is not None else None
        if number is None and run is not None:
            self.with_run(run.location, lambda found: self._show_place(found, event.evidence))
        else:
            self._show_place(self.book.selected if number is None else number, event.evidence)

    def _show_place(self, run: int, evidence: EvidenceRef) -> None:
        from mltd.analyzers.core.finding import Evidence, EvidenceKind

        if evidence.kind.value == "experiment":
            self.point_at(evidence.ref)
            return
        if run != self.book.selected:
            self.main_screen.select(run)
        kind = EvidenceKind(evidence.kind.value)
        self.main_screen.show_evidence(run, Evidence(kind, evidence.ref, evidence.quote))

    def ask(
        self,
        form: Form[Result],
        then: Callable[[Result], object],
        attempt: Callable[[Result], object] | None = None,
    ) -> None:
        """Let the user fill in a form, and go on with what came out."""
        from .screens.form import form_screen

        def closed(values: dict[str, str] | None) -> None:
            if values is not None:
                then(form.read(values))

        self.push_screen(form_screen(form, attempt), closed)

    def confirm(self, question: str, consequence: str, then: Callable[[], object]) -> None:
        """Go on only if the user means it."""
        from .screens.confirm import ConfirmScreen

        def closed(is_meant: bool | None) -> None:
            if is_meant:
                then()

        self.push_screen(ConfirmScreen(question, consequence), closed)

    def pick_run_for(self, experiment: str) -> None:
        """Let the user name the run that came out of an experiment."""
        self._pick_neighbour(experiment, f"Run of {experiment}: pick it, or type its path")

    def pick_baseline(self) -> None:
        """Let the user name a run that did what this one should have done."""
        self._pick_neighbour("", "A run that did well: pick it, or type its path")

    def _pick_neighbour(self, experiment: str, title: str) -> None:
        def chosen(run: int | None) -> None:
            if run is not None:
                self.link_run(experiment, run)

        # What a run is compared with lies beside it as a rule.
        row = self.book.rows.get(self.book.selected)
        if row is not None:
            self.bridge.send(Open(_neighbourhood(row.path), is_survey=True))
        self._pick(chosen, title, left_out=self.book.selected)

    def point_at(self, row: str) -> None:
        """Put the cursor of the checklist on a row."""
        if row and self.main_screen.checklist is not None:
            self.main_screen.checklist.select(row)

    def metrics_of(self, run: str) -> tuple[str, ...]:
        """Roles and names of what a run of the session logs."""
        ref = self.desk.session.run(run) if self.desk is not None else None
        number = self.number_of(ref) if ref is not None else None
        series = self.book.of(self.book.selected if number is None else number).series
        named = [one.role or one.name for one in series]
        return tuple(dict.fromkeys(named))

    # -- saving ---------------------------------------------------------------------------

    def action_save_elsewhere(self) -> None:
        """Keep the session in another folder."""
        desk = self.desk
        if desk is None:
            return
        from .desk.desk import private_name
        from .forms.session import save_elsewhere_form

        def save(folder: object) -> None:
            def work(desk: Desk) -> None:
                place = str(folder)
                if place == usual:  # a name that anybody can guess
                    place = _private_place(name, Path(above))
                path = desk.save_elsewhere(place)
                self.notify(printable(str(path)), title="Saved there", markup=False)

            self.change(work)

        above, name = os.environ.get("TMPDIR") or tempfile.gettempdir(), private_name()
        usual = os.path.join(above, name)
        self.ask(save_elsewhere_form(usual, desk.saving.problem), save)

    def _take_over(self) -> None:
        desk, store = self.desk, self._store
        if desk is None or store is None or not desk.why_read_only:
            return
        pending = desk.saving.pending
        unsaved = f" {pending} of your changes are not saved: s keeps them first." * bool(pending)
        self.confirm(
            "Take the session over?",
            f"{desk.why_read_only}. The other one can only read it from then on.{unsaved}",
            lambda: self._open_session(store, desk.session.id, take_over=True),
        )

    # -- the list of sessions -------------------------------------------------------------

    def action_sessions(self) -> None:
        """All sessions that there are."""
        from .screens.session_list import SessionListScreen

        if self._store is None:
            self.complain("sessions are still being loaded; try again in a second")
            return
        current = self.desk.session.id if self.desk is not None else ""
        self._list = SessionListScreen(current=current)

        def closed(chosen: str | None) -> None:
            self._list = None
            if chosen is not None and self._store is not None and chosen != current:
                self._open_session(self._store, chosen)

        self.push_screen(self._list, closed)
        self._refresh_list()

    def _refresh_list(self) -> None:
        store = self._store

        def look() -> None:
            # The list is read from the disk, and what was done last may be on its way there.
            for desk in tuple(self._desks):
                desk.flush()
            if store is None:
                return
            try:
                self.post_message(self.Listed(store.summaries()))
            except (MltdError, OSError) as problem:
                self.post_message(self.Listed([], str(problem)))

        self.run_worker(look, thread=True, group="sessions", exit_on_error=False)

    def on_session_keeping_app_listed(self, event: Listed) -> None:
        """Show them, or say why that cannot be."""
        if event.problem:
            self.complain(event.problem)
        if self._list is not None:
            self._list.set_rows(event.rows)

    def on_session_list_screen_renamed(self, event: SessionListScreen.Renamed) -> None:
        """Give a session another title."""
        from mltd.sessions.actions.records import Rename

        self._with_session(event.id, Rename(title=event.title))

    def on_session_list_screen_archived(self, event: SessionListScreen.Archived) -> None:
        """Put a session away, or bring it back."""
        from mltd.sessions.actions.records import Archive

        self._with_session(event.id, Archive(is_archived=event.is_archived))

    def on_session_list_screen_deleted(self, event: SessionListScreen.Deleted) -> None:
        """Remove a session for good."""
        store = self._store
        if store is None:
            return
        for number, desk in list(self._desk_of.items()):
            if desk.session.id == event.id:
                del self._desk_of[number]
        for desk in [d for d in self._desks if d.session.id == event.id]:
            desk.close()
            self._desks.remove(desk)
            if self.desk is desk:
                self.desk = None
        try:
            store.delete(event.id)
        except (MltdError, OSError) as problem:
            self.complain(str(problem))
        # All its runs are without a session now, and those are looked for at once.
        self._asked.clear()
        self.look_at_run(self.book.selected)
        self._refresh_list()

    def on_session_list_screen_report_wanted(self, event: SessionListScreen.ReportWanted) -> None:
        """Write the report of a session from the list."""
        known = next((desk for desk in self._desks if desk.session.id == event.id), None)
        if known is not None:
            self._ask_for_report(known.with_results_so_far())
        elif self._store is not None:
            try:
                triage, notices = self._store.load_with_notices(event.id)
                for notice in notices:
                    self.complain(notice)
                self._ask_for_report(triage.session)
            except (MltdError, OSError) as problem:
                self.complain(str(problem))

    def _with_session(self, id: str, action: object) -> None:  # noqa: A002 - what it is
        """Do something to a session that may be open here, or not at all."""
        store = self._store
        known = next((desk for desk in self._desks if desk.session.id == id), None)
        try:
            if known is not None:
                known.do(action)  # type: ignore[arg-type]
                self.show_desk()
            elif store is not None:
                opened = store.open(id)
                opened.do(action)  # type: ignore[arg-type]
                if opened.close():
                    self.complain(f"it could not be saved: {opened.path}")
        except (MltdError, OSError) as problem:
            self.complain(str(problem))
        self._refresh_list()

    def _open_session(self, store: SessionStore, id: str, *, take_over: bool = False) -> None:  # noqa: A002
        known = next((d for d in self._desks if d.session.id == id), None)
        if known is not None and not take_over:
            self._turn_to(known)
            return

        def look() -> None:
            try:
                self.post_message(self.Opened(store.open(id, take_over=take_over)))
            except (MltdError, OSError) as problem:
                self.post_message(self.Opened(None, str(problem)))

        self.run_worker(look, thread=True, group="sessions", exit_on_error=False)

    def on_session_keeping_app_opened(self, event: Opened) -> None:
        """Turn to a session, and to its runs."""
        if event.opened is None:
            self.complain(event.problem)
            return
        for old in [d for d in self._desks if d.session.id == event.opened.session.id]:
            for sentence in old.close():
                self.complain(sentence)
            self._desks.remove(old)
            self._desk_of = {n: d for n, d in self._desk_of.items() if d is not old}
            self._asked.clear()
        desk = self.open_desk(event.opened)
        self._turn_to(desk)

    def _turn_to(self, desk: Desk) -> None:
        self.desk = desk
        first = desk.session.run("")
        self.main_screen.action_view("checklist")
        self.show_desk()
        if first is None:
            return

        def found(number: int) -> None:
            self._desk_of[number] = desk
            self.main_screen.select(number)

        number = self.number_of(first)
        if number is not None:
            found(number)
        else:
            self.with_run(first.location, found)

    # -- reports --------------------------------------------------------------------------

    def action_report(self) -> None:
        """Write the report of the session."""
        desk = self.desk
        if desk is None:
            self.complain("there is nothing to report yet: the run is still being read")
            return
        self._ask_for_report(desk.with_results_so_far())

    def _ask_for_report(self, session: Session) -> None:
        from .forms.report import look_at_target, report_form

        # Runs of earlier days may not be known yet; by the time the form is filled in they are.
        unknown = [path_of(run.location) for run in session.runs if self.number_of(run) is None]
        if unknown:
            self.bridge.send(Open(tuple(unknown), is_survey=True))

        def write(wish: ReportWish) -> None:
            numbers = [(run.id, self.number_of(run)) for run in session.runs]
            request = ReportRequest(
                REPORT,
                session.model_dump_json(),
                tuple((name, number) for name, number in numbers if number is not None),
                str(wish.path),
                wish.kind.value,
                wish.is_redacted,
                wish.may_overwrite,
            )
            self.bridge.send(request)

        name = re.sub(r"[^\w.-]+", "-", session.title.casefold()).strip("-")[:60] or "session"
        form = report_form(f"report-{name}.md", os.getcwd())
        self.ask(form, write, look_at_target)

    def _reported(self, news: Reported) -> None:
        if news.problem:
            self.complain(f"no report was written: {news.problem}")
            return
        count = len(news.pictures)
        beside = f"\nand {count} files beside it" if count else ""
        self.notify(f"{printable(news.path)}{beside}", title="Report written", markup=False)


def _neighbourhood(folder: str) -> tuple[str, ...]:
    """Where the other runs of an experiment are: in the same folder, or in those beside it."""
    if "://" in folder:
        return (folder,)
    here = os.path.abspath(folder)
    above, home = os.path.dirname(here), os.path.expanduser("~")
    # Whatever holds homes or whole file systems is no folder of runs.
    is_too_wide = above == here or home == above or home.startswith(above.rstrip("/") + "/")
    return (here,) if is_too_wide else (here, above)


def _private_place(name: str, above: Path) -> str:
    try:
        return str(private_temp_folder(name, above))
    except OSError as problem:
        raise InputError(
            f"there can be no private folder in {above}: {problem.strerror or problem}",
            hint="name another folder",
        ) from None

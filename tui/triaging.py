"""The part of the app that keeps the triage: which session belongs to the run looked at."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from mltd.runs.errors import MltdError

from .engine.protocol import Diagnosed, Facts, FactsRequest, News
from .escaping import printable
from .picking import PickingApp
from .screens.main import MainScreen
from .settings import ScreenSettings
from .terminal import Terminal
from .theming import LoadedThemes

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Finding
    from mltd.sessions.model.run_ref import FilePrint, RunRef
    from mltd.sessions.model.session import Session
    from mltd.sessions.storage.open_session import OpenSession
    from mltd.sessions.storage.store import SessionStore

    from .desk.desk import Desk

LOAD_AFTER = 0.3
"""Seconds after the first picture: what checks sessions takes a tenth of a second to load."""
REFRESH_EVERY = 5.0
"""Seconds between two looks at a session that another app works on."""
ASK_EVERY = 20.0
"""Seconds between two looks at the facts of a run that keeps growing."""


class TriagingApp(PickingApp):
    """Finds the session of a run, or starts a draft of one, and keeps it up to date."""

    desk: Desk | None = None
    """The session of the run that is looked at."""

    @dataclass
    class Loaded(Message):
        """What sessions are made of can be used now."""

        store: SessionStore

    @dataclass
    class Looked(Message):
        """The disk was asked for the session of a run; None: it has none."""

        facts: Facts
        opened: OpenSession | None
        problem: str = ""
        earlier: str = ""
        """Title of a session about what the same file held before it was written anew."""

    class SavingChanged(Message):
        """Something was saved, or could not be."""

    def __init__(
        self,
        themes: LoadedThemes,
        terminal: Terminal,
        settings: ScreenSettings,
        *wishes: str | None,
        session_folder: Path | None = None,
    ) -> None:
        super().__init__(themes, terminal, settings, *wishes)
        self._session_folder = session_folder
        """Where sessions are kept, if not where they usually are."""
        self._store: SessionStore | None = None
        self._desks: list[Desk] = []
        self._desk_of: dict[int, Desk] = {}
        self._early: dict[int, Facts] = {}
        self._asked: dict[int, float] = {}
        self._looking: set[int] = set()
        self._adoptions: list[tuple[int, Finding | None, RootCause | None]] = []
        self._unsaved: set[Desk] = set()
        """Sessions of which the user knows that they could not be saved."""

    def begin_triage(self) -> None:
        """Load what sessions need, now that nobody waits for a picture."""
        self.set_timer(LOAD_AFTER, self._load)
        self.set_interval(REFRESH_EVERY, self._refresh)

    def _refresh(self) -> None:
        """Look what somebody else does to a session that is only read here."""
        desk = self.desk
        if desk is None or not desk.why_read_only:
            return

        def look() -> None:
            with contextlib.suppress(MltdError, OSError):
                if desk.refresh():
                    self.call_from_thread(self.show_desk)

        self.run_worker(look, thread=True, group="sessions", exit_on_error=False)

    def _load(self) -> None:
        def load() -> None:
            from mltd.sessions.storage.store import SessionStore

            from .desk import desk as _  # noqa: F401 - loaded here, in a thread

            self.post_message(self.Loaded(SessionStore(self._session_folder)))

        self.run_worker(load, thread=True, group="sessions", exit_on_error=False)

    def on_triaging_app_loaded(self, event: Loaded) -> None:
        """Take in what was told too early."""
        self._store = event.store
        early, self._early = self._early, {}
        for facts in early.values():
            self._take(facts)

    # -- news -----------------------------------------------------------------------------

    def hear_of_triage(self, news: News) -> None:
        """Keep the session up to date with what the engine says."""
        match news:
            case Diagnosed() if news.run == self.book.selected:
                self._want_facts(news.run)
            case Facts():
                self._take(news)
            case _:
                pass

    def _want_facts(self, run: int) -> None:
        asked = self._asked.get(run)
        moment = time.monotonic()
        if asked is None or moment - asked >= ASK_EVERY:
            self._asked[run] = moment
            self.bridge.send(FactsRequest(run))

    def look_at_run(self, run: int) -> None:
        """Another run is looked at: so is its session."""
        self.desk = self._desk_of.get(run)
        if self.desk is None and self.book.of(run).diagnosis is not None:
            self._want_facts(run)
        self.show_desk()

    def _take(self, facts: Facts) -> None:
        store = self._store
        if store is None:
            self._early[facts.run] = facts
            return
        prints = prints_of(facts)
        known = next((d for d in self._desks if d.run_of(facts.location, prints)), None)
        desk = self._desk_of.get(facts.run) or known
        if desk is not None:
            self._see(desk, facts)
        elif facts.run not in self._looking:
            self._looking.add(facts.run)
            self._look_up(store, facts, prints)

    def _look_up(self, store: SessionStore, facts: Facts, prints: tuple[FilePrint, ...]) -> None:
        def look() -> None:
            opened, problem, earlier = None, "", ""
            try:
                known = store.find_for_run(facts.location, prints)
                opened = None if known is None else store.open(known)
                if opened is not None and is_of_an_earlier_run(opened.session, prints):
                    earlier = opened.session.title
                    opened.close()
                    opened = None
            except (MltdError, OSError) as trouble:
                problem = str(trouble)
            self.post_message(self.Looked(facts, opened, problem, earlier))

        self.run_worker(look, thread=True, group="sessions", exit_on_error=False)

    def on_triaging_app_looked(self, event: Looked) -> None:
        """Go on in the session that was found, or begin a draft."""
        self._looking.discard(event.facts.run)
        if event.problem:
            self.complain(f"the session of this run cannot be opened: {event.problem}")
        if event.earlier:
            said = f"this log was written anew since the session {event.earlier!r}"
            self.complain(f"{said}; S opens that one")
        desk = self.open_desk(event.opened, self.book.name(event.facts.run))
        self._see(desk, event.facts)
        if event.opened is not None:
            count = len(desk.session.hypotheses)
            hypotheses = "1 hypothesis" if count == 1 else f"{count} hypotheses"
            said = f"{printable(desk.session.title)}\n{hypotheses}; 6 shows the checklist"
            self.notify(said, title="Session reopened", markup=False)

    def open_desk(self, opened: OpenSession | None, title: str = "") -> Desk:
        """A desk for a session that was opened, or for a new draft."""
        from .desk.desk import Desk

        assert self._store is not None
        desk = Desk(self._store, title, opened)
        desk.on_saving = self._saving_changed
        self._desks.append(desk)
        for notice in desk.notices:
            self.complain(notice)
        if desk.why_read_only:
            self.complain(f"the session is read-only: {desk.why_read_only}")
        return desk

    def _saving_changed(self) -> None:
        # Called by the thread that saves.
        self.post_message(self.SavingChanged())

    def _see(self, desk: Desk, facts: Facts) -> None:
        from mltd.sessions.facts.gathered import Gathered

        known = self.book.of(facts.run)
        run = desk.meet(facts.location, self.book.name(facts.run), prints_of(facts))
        desk.see(run, Gathered.model_validate_json(facts.gathered), known.diagnosis)
        self._desk_of[facts.run] = desk
        if facts.run == self.book.selected:
            # A session that was opened from the list stays, though its run may be gone.
            if self.desk is None or any(run == facts.run for run, _, _ in self._adoptions):
                self.desk = desk
            self._adopt_waiting()
        self.show_desk()

    # -- the checklist --------------------------------------------------------------------

    def show_desk(self) -> None:
        """Show the session as it is now."""
        pane, desk = self.main_screen.checklist, self.desk
        if pane is None:
            return
        self.main_screen.set_class(desk is not None and not desk.is_draft, "-has-session")
        if desk is None:
            pane.set_session(None)
            return
        pane.set_session(
            desk.session,
            suggested=desk.suggested,
            missing=desk.missing(),
            live=desk.results_so_far(),
        )
        pane.set_undo(desk.triage.undoable, desk.triage.redoable)
        self._show_saving()

    def on_triaging_app_saving_changed(self) -> None:
        """Say whether what was done is safe."""
        self._show_saving()

    def _show_saving(self) -> None:
        desk, pane = self.desk, self.main_screen.checklist
        if desk is not None and pane is not None:
            pane.saving = desk.saving
        for one in self._desks:
            self._tell_saving(one)

    def _tell_saving(self, desk: Desk) -> None:
        """Say once that a session cannot be saved, and once that it can be again."""
        saving = desk.saving
        if saving.state == "unsaved" and desk not in self._unsaved:
            self._unsaved.add(desk)
            said = (
                f"{saving.problem}\nyour work goes on and is tried again; s in the checklist (6) "
            )
            said += "saves it elsewhere"
            self.notify(said, title="NOT SAVED", severity="error", markup=False)
            if desk.needs_retry:
                self.set_timer(desk.retry_after, lambda: self._retry(desk))
        if saving.state == "saved" and desk in self._unsaved:
            self._unsaved.discard(desk)
            self.notify("everything is on disk again", title="Saved", markup=False)

    def _retry(self, desk: Desk) -> None:
        if not desk.retry():
            self.set_timer(desk.retry_after, lambda: self._retry(desk))
        self.show_desk()

    @property
    def saving_trouble(self) -> str:
        """What the header has to say about what is not saved; empty if nothing."""
        saving = self.desk.saving if self.desk is not None else None
        if saving is None or not (saving.state == "unsaved" or saving.pending):
            return ""
        if saving.state == "saving":
            return ""
        return f"NOT SAVED ({saving.pending}): {saving.problem}"

    def change(self, work: Callable[[Desk], object]) -> bool:
        """Do something to the session; what the rules do not allow is said in a notice."""
        desk = self.desk
        if desk is None:
            self.complain("there is no session yet: the run is still being read")
            return False
        try:
            work(desk)
            desk.observe()
        except (MltdError, OSError, ValueError) as problem:
            self.complain(str(problem))
            return False
        finally:
            self.show_desk()
        return True

    # -- hypotheses from findings ---------------------------------------------------------

    def on_main_screen_adopted(self, event: MainScreen.Adopted) -> None:
        """Keep a finding or a cause as a hypothesis."""
        self._adoptions.append((event.run, event.finding, event.cause))
        if (desk := self._desk_of.get(event.run)) is not None:
            self.desk = desk
            self._adopt_waiting()
        else:
            self._want_facts(event.run)

    def _adopt_waiting(self) -> None:
        waiting, self._adoptions = self._adoptions, []
        for run, finding, cause in waiting:
            if self._desk_of.get(run) is self.desk:
                self._adopt(run, finding, cause)
            else:
                self._adoptions.append((run, finding, cause))

    def _adopt(self, run: int, finding: Finding | None, cause: RootCause | None) -> None:
        from mltd.sessions.actions.hypotheses import AddHypothesis
        from mltd.sessions.adopting import best_for, from_cause, from_finding
        from mltd.sessions.triage import now

        desk, diagnosis = self.desk, self.book.of(run).diagnosis
        assert desk is not None
        if cause is None and finding is not None and diagnosis is not None:
            cause = best_for(diagnosis, finding)
        new, place = desk.triage.new_id("H"), self._ref_of(run)
        about = place.id if place is not None else ""
        if cause is not None:
            hypothesis = from_cause(new, cause, now(), about)
        elif finding is not None:
            hypothesis = from_finding(new, finding, now(), about)
        else:
            return
        if self.change(lambda desk: desk.do(AddHypothesis(hypothesis=hypothesis))):
            said = f"{printable(hypothesis.statement)}\n{hypothesis.confidence}; 6: checklist"
            self.notify(said, title=f"Hypothesis {new}", markup=False)
            if self.main_screen.checklist is not None:
                self.main_screen.checklist.select(new)

    def _ref_of(self, number: int) -> RunRef | None:
        """The session's record of a run that the engine knows by a number."""
        desk, row = self._desk_of.get(number), self.book.rows.get(number)
        if desk is None or row is None:
            return None
        paths = set(row.logs)
        return next(
            (run for run in desk.session.runs if paths & {file.path for file in run.files}), None
        )

    # -- the end --------------------------------------------------------------------------

    def kept_sessions(self) -> list[str]:
        """What was worked on, and how to get a report of it."""
        kept = [desk for desk in self._desks if desk.reference]
        return [f"session {one.session.title}: mltd-tui report {one.reference}" for one in kept]

    def close_sessions(self) -> list[str]:
        """Let go of all sessions: what to say in the terminal that is left."""
        said = []
        for desk in self._desks:
            said += desk.close()
        return said


def is_of_an_earlier_run(session: Session, files: tuple[FilePrint, ...]) -> bool:
    """True if the session is about what these files held before they were written anew."""
    from mltd.sessions.prints import is_rewritten

    return any(is_rewritten(run.files, files) for run in session.runs)


def prints_of(facts: Facts) -> tuple[FilePrint, ...]:
    """How to know the files of a run again."""
    from pydantic import TypeAdapter

    from mltd.sessions.model.run_ref import FilePrint

    return TypeAdapter(tuple[FilePrint, ...]).validate_json(facts.prints)

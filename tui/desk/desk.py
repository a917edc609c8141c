"""One session while it is worked on; a draft until the user does something worth keeping."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.private_temp import private_temp_folder
from mltd.sessions.actions.base import changed, swapped
from mltd.sessions.actions.checks import ObserveChecks
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import EndRun, RecordResult
from mltd.sessions.actions.records import AddRun, Prefill, RecordDiagnosis
from mltd.sessions.adopting import record_of
from mltd.sessions.checks import is_news, missing, observed, suggest
from mltd.sessions.errors import SessionError
from mltd.sessions.facts.gathered import Gathered, Seen
from mltd.sessions.model.checklist import CHECKS
from mltd.sessions.model.constraints import Constraints, Topic
from mltd.sessions.model.result import BeforeAfter
from mltd.sessions.model.run_ref import FilePrint, RunPart, RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.prints import is_rewritten, is_same_file
from mltd.sessions.storage.open_session import OpenSession
from mltd.sessions.storage.saver import Saving
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import Entry, Triage, now

FIRST_RETRY, LAST_RETRY = 1.0, 30.0
"""Seconds between attempts to create a session where there is no room for one."""
_LONG = 24
"""Characters of a folder's name that are left whole in a title."""
_GROWING = re.compile(r"\(.*\)|\d[\d.,]*")
"""Remarks and numbers in the timeline."""


class Desk:
    """What is done goes to the session, and with it to the disk; nothing here draws."""

    def __init__(
        self, store: SessionStore, title: str = "", opened: OpenSession | None = None
    ) -> None:
        self._store = store
        self._draft = Triage(Session(id="draft", title=title or "untitled", created=now()))
        self._opened = opened
        self._trouble = ""
        """Why the session cannot be created."""
        self.retry_after = FIRST_RETRY
        self.on_saving: Callable[[], None] | None = None
        """Called from any thread when something was saved, or could not be."""
        self.gathered: dict[str, Gathered] = {}
        """What was seen in each run, by the id that the session gives it."""
        self.live: dict[str, BeforeAfter] = {}
        """The last verdict on each experiment, preliminary or final."""
        if opened is not None:
            opened.on_saving = self._saving_changed

    # -- facts ----------------------------------------------------------------------------

    @property
    def triage(self) -> Triage:
        """The session and all that was done to it."""
        return self._draft if self._opened is None else self._opened.triage

    @property
    def session(self) -> Session:
        """The state that is shown."""
        return self.triage.session

    @property
    def is_draft(self) -> bool:
        """True while nothing was done that is worth a file."""
        return self._opened is None and not self._trouble

    @property
    def needs_retry(self) -> bool:
        """True while the session has no file, though it should have."""
        return self._opened is None and bool(self._trouble)

    @property
    def why_read_only(self) -> str:
        """Why nothing can be changed; empty if it can."""
        return "" if self._opened is None else self._opened.why_read_only

    @property
    def reference(self) -> str:
        """Under which name the headless commands find the session; empty if it has no file."""
        if self._opened is None:
            return ""
        is_usual = self._opened.path.parent == self._store.folder
        return self.session.id if is_usual else str(self._opened.path)

    @property
    def saving(self) -> Saving:
        """Whether what was done is on disk."""
        if self._opened is not None:
            return self._opened.saving
        if self._trouble:
            done = sum(not entry.is_automatic for entry in self._draft.entries)
            return Saving("unsaved", done, self._trouble)
        return Saving("draft", 0, "")

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should know about the files of the session."""
        return () if self._opened is None else self._opened.notices

    @property
    def suggested(self) -> str:
        """What to do next."""
        return suggest(self.session)

    def missing(self) -> dict[str, str]:
        """What each item still lacks, in a sentence."""
        seen = self._seen()
        return {check.id: missing(check.id, self.session, seen) for check in CHECKS}

    def run_of(self, location: str, files: Sequence[FilePrint] = ()) -> RunRef | None:
        """The session's own record of a run, known by its name or by its files."""
        paths = {os.path.abspath(file.path) for file in files}
        for run in self.session.runs:
            if run.location == location or paths & {os.path.abspath(f.path) for f in run.files}:
                return run
        return None

    def results_so_far(self) -> dict[str, BeforeAfter]:
        """What is known of experiments that have a run and no verdict yet."""
        return {
            experiment.id: self.live[experiment.id]
            for experiment in self.session.experiments
            if experiment.id in self.live and experiment.run and not experiment.status.is_over
        }

    def with_results_so_far(self) -> Session:
        """The session with preliminary verdicts in it, for a report: they are in no journal."""
        session = self.session
        for name, result in self.results_so_far().items():
            old = session.experiment(name)
            if old is not None and result.is_preliminary:
                new = changed(old, result=result)
                session = changed(session, experiments=swapped(session.experiments, old, new))
        return session

    def was_recorded(self, experiment: str, result: BeforeAfter) -> bool:
        """True if this verdict was recorded before: one that is undone stays undone.

        Unless the user has said again since then that the run is over.
        """
        was_recorded = False
        for entry in self.triage.entries:
            match entry.action:
                case EndRun(id=name) if name == experiment:
                    was_recorded = False
                case RecordResult(id=name, result=known) if name == experiment:
                    is_same = (known.outcome, known.summary) == (result.outcome, result.summary)
                    was_recorded = was_recorded or (is_same and not known.is_preliminary)
                case _:
                    pass
        return was_recorded

    # -- doing ----------------------------------------------------------------------------

    def do(self, *actions: AnyAction) -> list[Entry]:
        """Do something; the first thing that a person does makes the draft a session.

        `Refused` if the rules do not allow it; what came before it stays done.
        """
        if self._opened is not None:
            return [self._opened.do(action) for action in actions]
        done: list[Entry] = []
        try:
            for action in actions:
                done.append(self._draft.do(action))
        finally:
            # Only now: what was refused is not worth a file.
            if any(not entry.is_automatic for entry in done):
                self._create()
        return done

    def undo(self) -> Entry | None:
        """Take the last thing back."""
        return self._draft.undo() if self._opened is None else self._opened.undo()

    def redo(self) -> Entry | None:
        """Do it again."""
        return self._draft.redo() if self._opened is None else self._opened.redo()

    def refresh(self) -> bool:
        """Read what another app has written meanwhile; true if there was something."""
        return self._opened is not None and self._opened.refresh()

    def retry(self) -> bool:
        """Try again to create the session; true if there is nothing left to try."""
        if self._opened is None and self._trouble:
            self._create()
            self.retry_after = min(LAST_RETRY, 2 * self.retry_after)
        return not self._trouble

    def _create(self) -> None:
        try:
            self._adopt(self._store.create(self._title()))
        except (OSError, SessionError) as problem:
            self._trouble = f"no session can be created: {problem}"
            self._saving_changed()

    def _title(self) -> str:
        """The run, and what is worst about it."""
        session = self._draft.session
        found = session.diagnoses[0].body.get("findings") if session.diagnoses else None
        entries = found if isinstance(found, list) else []
        named = [str(entry.get("id", "")) for entry in entries if isinstance(entry, dict)]
        # That there was an exception says less than which one, which stands beside it.
        worst = next((one for one in named if one != "exception"), next(iter(named), ""))
        worst = worst.replace("_", " ")
        name = session.title
        if session.runs and session.runs[0].location.endswith(name):
            # Logs are called alike in every folder; the folder tells them apart.
            above = os.path.basename(os.path.dirname(session.runs[0].location))
            short = above if len(above) <= _LONG else f"{above[: _LONG // 2]}…{above[-8:]}"
            name = os.path.join(short, name) if above else name
        return f"{name}: {worst}" if worst else name

    def _adopt(self, opened: OpenSession) -> None:
        """Go on in a file, with everything that was done before there was one."""
        for entry in self._draft.entries:
            if entry.kind == "undo":
                opened.undo()
            elif entry.kind == "redo":
                opened.redo()
            elif entry.action is not None:
                opened.do(entry.action)
        opened.on_saving = self._saving_changed
        self._opened, self._trouble = opened, ""

    def save_elsewhere(self, folder: str) -> Path:
        """Keep the session in another folder, and go on there."""
        place = Path(folder).expanduser()
        if self._opened is not None:
            return self._opened.save_elsewhere(place)
        self._adopt(SessionStore(place).create(self._title()))
        assert self._opened is not None
        return self._opened.path

    def flush(self) -> None:
        """Wait until what was done is on disk, or could not be saved."""
        if self._opened is not None:
            self._opened.flush()

    def close(self) -> list[str]:
        """Let go of the files; sentences about what could not be saved."""
        self.on_saving = None
        if self.needs_retry and not self.retry():
            return [f"{self._trouble}; {self._rescue()}"]
        opened = self._opened
        if opened is None:
            return []
        opened.on_saving = None
        lost = opened.close()
        if not lost:
            return []
        rescued = opened.rescue()
        where = f"; a copy is in {rescued}" if rescued is not None else ""
        changes = "1 change" if len(lost) == 1 else f"{len(lost)} changes"
        return [f"{changes} of the session could not be saved{where}"]

    def _rescue(self) -> str:
        """Keep what has no file in a temporary one, as a last resort."""
        try:
            path = self.save_elsewhere(str(private_temp_folder(private_name())))
        except (OSError, SessionError):
            return "what was done is lost"
        assert self._opened is not None
        is_lost = bool(self._opened.close())
        return "what was done is lost" if is_lost else f"a copy of it is in {path}"

    def _saving_changed(self, _: object = None) -> None:
        if self.on_saving is not None:
            self.on_saving()

    # -- what the app sees by itself ------------------------------------------------------

    def meet(
        self,
        location: str,
        name: str,
        files: tuple[FilePrint, ...],
        part: RunPart = RunPart.INCIDENT,
    ) -> RunRef:
        """The run among those of the session, taken in if it is new."""
        known = self.run_of(location, files)
        if known is not None and (known.files or not files):
            return known
        known = known or self._moved(files)
        run = RunRef(
            id=known.id if known else self.triage.new_id("R"),
            location=location,
            name=name,
            part=known.part if known else part,
            files=files,
            added=known.added if known else now(),
        )
        if not self.why_read_only:
            self.do(AddRun(run=run))
        return run

    def _moved(self, files: Sequence[FilePrint]) -> RunRef | None:
        """The run that these files are, if they were elsewhere when the session last saw them."""
        for run in self.session.runs:
            for old in run.files:
                if any(is_same_file(old, new.path) for new in files):
                    # What still is where it was has a twin, not a new place.
                    return None if is_same_file(old, old.path) else run
        return None

    def see(self, run: RunRef, gathered: Gathered, diagnosis: Diagnosis | None) -> None:
        """Take in what a run shows; only what is new is written down."""
        if is_rewritten(run.files, run.files):
            return  # the log holds another run by now, about which this session says nothing
        self.gathered[run.id] = gathered
        if self.why_read_only:
            return
        first = self.session.run("")
        if first is not None and first.id == run.id:
            self._prefill(gathered)
        if diagnosis is not None:
            record = record_of(diagnosis, now(), run.id)
            known = self.session.diagnosis_of(run.id)
            if known is None or _gist(known.body) != _gist(record.body):
                self.do(RecordDiagnosis(diagnosis=record))
        self.observe()

    def _prefill(self, gathered: Gathered) -> None:
        wish = Prefill(facts=gathered.facts, timeline=gathered.timeline)
        after = wish.apply(self.session, now()).constraints
        if _spoken(after) != _spoken(self.session.constraints):
            self.do(wish)

    def observe(self) -> None:
        """Tick what can be verified, and take back what no longer holds."""
        if self.why_read_only:
            return
        marks = observed(self.session, self._seen(), now())
        if is_news(self.session, marks):
            self.do(ObserveChecks(marks=marks))

    def _seen(self) -> Seen | None:
        first = self.session.run("")
        gathered = self.gathered.get(first.id) if first is not None else None
        return None if gathered is None else gathered.seen


def private_name() -> str:
    """A folder below a temporary directory that no other user of the machine takes."""
    return f"mltd-sessions-{os.getuid()}"


def _gist(body: Mapping[str, object]) -> object:
    """What a diagnosis says, without the numbers that change with every line."""

    def ids(key: str) -> list[object]:
        found = body.get(key)
        entries = found if isinstance(found, list) else []
        return [(e.get("id"), e.get("severity")) for e in entries if isinstance(e, dict)]

    return body.get("status"), ids("findings"), ids("root_causes")


def _spoken(constraints: Constraints) -> object:
    """What is said, without what grows with every line: a longer log is no other story."""
    facts = {topic: fact.value for topic, fact in constraints.facts.items()}
    start = constraints.facts.get(Topic.INCIDENT_START)
    if start is not None and start.is_prefilled:
        # Where it began; how far it has come since stands behind the colon.
        facts[Topic.INCIDENT_START] = start.value.partition(": ")[0]
    return facts, tuple(_GROWING.sub("", entry.text) for entry in constraints.timeline)

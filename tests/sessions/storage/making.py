"""Things to save, and a clock that stands still unless told."""

from __future__ import annotations

import queue
import re
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.checks import MarkCheck, ObserveChecks, SetPhase
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import PlanExperiment, StartExperiment
from mltd.sessions.actions.hypotheses import AddHypothesis, RemoveHypothesis, SetConfidence
from mltd.sessions.actions.records import AddRun, Archive, PutNote, Rename, SetFact
from mltd.sessions.errors import Refused
from mltd.sessions.model.checklist import CheckMark, MarkState, Phase
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.constraints import Fact, Topic
from mltd.sessions.model.experiment import Experiment
from mltd.sessions.model.hypothesis import Hypothesis
from mltd.sessions.model.run_ref import FilePrint, RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.storage.open_session import OpenSession
from mltd.sessions.storage.saver import Clock, Saving
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import Triage

MOMENT = datetime(2026, 11, 16, 17, 45, 12, 345678, tzinfo=UTC)
ID = "20261116-1745-loss-explodes-0a1b"


def note(number: int, text: str = "") -> PutNote:
    return PutNote(id=f"N{number}", text=text or f"note {number}")


def hypothesis(number: int, statement: str = "", value: float = 0.5) -> AddHypothesis:
    believed = Hypothesis(
        id=f"H{number}",
        statement=statement or f"cause number {number}",
        confidence=Confidence(value=value, basis=Basis.INFERENCE),
        created=MOMENT,
    )
    return AddHypothesis(hypothesis=believed)


def run(number: int, location: str, files: tuple[FilePrint, ...] = ()) -> AddRun:
    return AddRun(run=RunRef(id=f"R{number}", location=location, files=files, added=MOMENT))


def triage_of(*wishes: AnyAction | str) -> Triage:
    """A session to which all this was done; `undo` and `redo` are wishes, too."""
    moments = (MOMENT + timedelta(seconds=n) for n in range(1_000_000))
    triage = Triage(
        Session(id=ID, title="loss explodes", created=MOMENT), clock=lambda: next(moments)
    )
    wish_for(triage, *wishes)
    return triage


def wish_for(session: Triage | OpenSession, *wishes: AnyAction | str) -> None:
    """Do what the rules allow."""
    for wish in wishes:
        if wish == "undo":
            session.undo()
        elif wish == "redo":
            session.redo()
        elif not isinstance(wish, str):
            try:
                session.do(wish)
            except Refused:
                continue


def put_journal(store: SessionStore, data: bytes) -> Path:
    """A session as some process has left it; its folder."""
    folder = store.folder / ID
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "journal.jsonl").write_bytes(data)
    return folder


def without_checksums(data: bytes) -> bytes:
    """A journal as versions wrote it before lines had checksums."""
    return re.sub(rb',"crc":"[0-9a-f]{8}"}\n', b"}\n", data)


def note_ids(session: OpenSession) -> list[str]:
    return [one.id for one in session.session.notes]


_LETTERS = 'ab"\\\n\r\x00\x1b{}é漢\u2028😀'
_TEXTS = st.text(st.sampled_from(_LETTERS), min_size=1, max_size=8)
_NAMES = st.text(st.sampled_from(_LETTERS + "\udce9"), min_size=1, max_size=8)
"""With what a file name of unknown encoding turns into."""
_NUMBERS = st.integers(1, 4)
WISHES: st.SearchStrategy[list[AnyAction | str]] = st.lists(
    st.one_of(
        st.sampled_from(["undo", "undo", "redo"]),
        st.builds(note, _NUMBERS, _TEXTS),
        st.builds(hypothesis, _NUMBERS, _TEXTS, st.floats(0, 0.7)),
        st.builds(lambda n: RemoveHypothesis(id=f"H{n}"), _NUMBERS),
        st.builds(
            lambda n, value, why: SetConfidence(
                id=f"H{n}", confidence=Confidence(value=value, basis=Basis.RESEARCH), reason=why
            ),
            _NUMBERS,
            st.floats(0, 0.85),
            _TEXTS,
        ),
        st.builds(
            lambda n, text: PlanExperiment(
                experiment=Experiment(id=f"E{n}", hypothesis="H1", change=text, created=MOMENT)
            ),
            _NUMBERS,
            _TEXTS,
        ),
        st.builds(lambda n: StartExperiment(id=f"E{n}"), _NUMBERS),
        st.builds(
            lambda n, place, path: run(n, place, (FilePrint(path=path),)), _NUMBERS, _TEXTS, _NAMES
        ),
        st.builds(lambda text: Rename(title=text), _NAMES),
        st.builds(lambda flag: Archive(is_archived=flag), st.booleans()),
        st.builds(lambda phase: SetPhase(phase=phase), st.sampled_from(Phase)),
        st.builds(
            lambda topic, text: SetFact(topic=topic, fact=Fact(value=text)),
            st.sampled_from(Topic),
            _TEXTS,
        ),
        st.builds(lambda text: MarkCheck(item="logs", state=MarkState.WAIVED, reason=text), _TEXTS),
        st.builds(
            lambda text: ObserveChecks(
                marks=(CheckMark(item="seeds", state=MarkState.DONE, by="app", reason=text),)
            ),
            _TEXTS,
        ),
    ),
    max_size=25,
)


class HeldClock(Clock):
    """Time passes only when the test says so."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.waits: list[float] = []
        self._condition = threading.Condition()

    def now(self) -> float:
        return self.time

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        self.waits.append(seconds)
        self._condition = condition
        condition.wait(60)

    def advance(self, seconds: float) -> None:
        with self._condition:
            self.time += seconds
            self._condition.notify_all()


class States:
    """What was told about saving, to be waited for."""

    def __init__(self) -> None:
        self._told: queue.Queue[Saving] = queue.Queue()

    def __call__(self, saving: Saving) -> None:
        self._told.put(saving)

    def wait_for(self, state: str, pending: int | None = None) -> Saving:
        """The next time that it is so."""
        while True:
            told = self._told.get(timeout=60)
            if told.state == state and pending in (None, told.pending):
                return told

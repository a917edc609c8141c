"""A session while it is worked on: a draft, a file, or neither where there is no room."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.actions.hypotheses import AddHypothesis, RemoveHypothesis
from mltd.sessions.actions.records import PutNote, Rename
from mltd.sessions.errors import Refused, StorageError
from mltd.sessions.facts.gathered import Gathered
from mltd.sessions.model.constraints import Fact, Topic
from mltd.sessions.storage.store import SessionStore
from mltd.tui.desk.desk import LAST_RETRY, Desk, private_name
from tests.sessions.made_sessions import a_hypothesis, some_seen
from tests.tui.verdicts import finding, verdict_of

NOTE = PutNote(id="N1", text="worth remembering")
BELIEF = AddHypothesis(hypothesis=a_hypothesis())
SEEN = Gathered(facts={Topic.HARDWARE: Fact(value="8x A100", source="log")}, seen=some_seen())


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No room for a session, until it is undone."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(SessionStore, "create", refuse)
    return monkeypatch


def ops(desk: Desk) -> list[str]:
    return [entry.action.op if entry.action else entry.kind for entry in desk.triage.entries]


def kept(store: SessionStore) -> list[list[str]]:
    """What is on disk: the ids of notes and hypotheses of each session."""
    sessions = [store.load(row.id).session for row in store.summaries()]
    return [[*(n.id for n in one.notes), *(h.id for h in one.hypotheses)] for one in sessions]


# -- drafts ------------------------------------------------------------------------------------


def test_what_the_app_sees_by_itself_makes_no_file(store: SessionStore, tmp_path: Path) -> None:
    desk = Desk(store, "bad run")
    run = desk.meet("/runs/a.log", "a.log", ())
    desk.see(run, SEEN, verdict_of(finding()))
    assert ops(desk) == ["add_run", "prefill", "record_diagnosis", "observe_checks"]
    assert (desk.is_draft, desk.saving.state, desk.reference) == (True, "draft", "")
    assert desk.close() == []
    assert not store.folder.exists()


def test_the_title_names_the_folder_and_what_broke(store: SessionStore) -> None:
    desk = Desk(store, "train.log")
    run = desk.meet("/runs/small-gpt/train.log", "train.log", ())
    desk.see(run, SEEN, verdict_of(finding("exception"), finding("cuda_oom")))
    desk.do(NOTE)
    assert desk.session.title == "small-gpt/train.log: cuda oom"


def test_the_first_thing_that_a_person_does_makes_a_session_of_all(store: SessionStore) -> None:
    desk = Desk(store, "bad run")
    desk.see(desk.meet("/runs/a.log", "a.log", ()), SEEN, verdict_of(finding()))
    before = desk.session
    desk.do(NOTE)
    assert not desk.is_draft
    assert desk.session.title == "bad run: loss spike"
    assert desk.session.runs == before.runs
    assert desk.session.constraints == before.constraints
    assert desk.session.marks.keys() == before.marks.keys()
    assert desk.close() == []
    assert desk.reference == desk.session.id
    assert kept(store) == [["N1"]]


def test_what_is_refused_is_not_worth_a_file(store: SessionStore) -> None:
    desk = Desk(store, "bad run")
    with pytest.raises(Refused):
        desk.do(RemoveHypothesis(id="H9"))
    assert desk.is_draft
    with pytest.raises(Refused):
        desk.do(NOTE, RemoveHypothesis(id="H9"))
    assert not desk.is_draft
    desk.close()
    assert kept(store) == [["N1"]]


def test_a_title_is_only_made_up_where_nobody_gave_one(store: SessionStore) -> None:
    desk = Desk(store)
    desk.do(Rename(title="mine"))
    assert desk.session.title == "mine"
    desk.close()


# -- no room -----------------------------------------------------------------------------------


def test_without_room_work_goes_on_in_memory(store: SessionStore, full: Any) -> None:
    desk = Desk(store, "bad run")
    told: list[str] = []
    desk.on_saving = lambda: told.append(desk.saving.state)
    desk.do(NOTE)
    desk.do(BELIEF)
    assert told == ["unsaved", "unsaved"]
    assert desk.saving.pending == 2
    assert "no session can be created" in desk.saving.problem
    assert "No space left" in desk.saving.problem
    assert (desk.is_draft, desk.needs_retry) == (False, True)
    desk.undo()
    assert desk.session.hypotheses == ()
    desk.redo()
    desk.undo()
    full.undo()
    assert desk.retry()
    assert desk.session.hypotheses == ()
    assert desk.triage.redoable
    desk.redo()
    assert desk.close() == []
    assert kept(store) == [["N1", "H1"]]


def test_it_is_tried_again_less_and_less_often(store: SessionStore, full: Any) -> None:
    desk = Desk(store)
    assert desk.retry()
    desk.do(NOTE)
    pauses = []
    for _ in range(7):
        pauses.append(desk.retry_after)
        assert not desk.retry()
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, LAST_RETRY]


def test_what_has_no_file_is_saved_elsewhere(
    store: SessionStore, full: Any, tmp_path: Path
) -> None:
    desk = Desk(store)
    desk.do(NOTE)
    with pytest.raises(OSError, match="No space left"):
        desk.save_elsewhere(str(tmp_path / "full as well"))
    assert desk.needs_retry
    full.undo()
    path = desk.save_elsewhere(str(tmp_path / "other"))
    assert path.parent == tmp_path / "other"
    assert not desk.needs_retry
    assert desk.reference == str(path)
    desk.do(BELIEF)
    assert desk.close() == []
    assert kept(store) == []
    assert kept(SessionStore(tmp_path / "other")) == [["N1", "H1"]]


def test_the_end_is_the_last_attempt(
    store: SessionStore, full: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(store)
    desk.do(NOTE)
    full.undo()
    assert desk.close() == []
    assert kept(store) == [["N1"]]


def test_what_has_no_file_at_the_end_goes_to_a_temporary_one(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    create = SessionStore.create

    def elsewhere(self: SessionStore, title: str) -> object:
        if self.folder == store.folder:
            raise StorageError("no room")
        return create(self, title)

    monkeypatch.setattr(SessionStore, "create", elsewhere)
    desk = Desk(store)
    desk.do(NOTE)
    (said,) = desk.close()
    assert said.startswith("no session can be created: no room; a copy of it is in /")
    assert kept(SessionStore(tmp_path / private_name())) == [["N1"]]


@pytest.mark.parametrize("kind", ["link", "open"])
def test_a_temporary_folder_that_somebody_else_may_have_prepared_gets_nothing(
    kind: str, store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared := tmp_path / "tmp").mkdir()
    shared.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    planted, target = shared / private_name(), tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    if kind == "link":
        planted.symlink_to(target)
    else:
        planted.mkdir(mode=0o755)
    create = SessionStore.create

    def elsewhere(self: SessionStore, title: str) -> object:
        if self.folder == store.folder:
            raise StorageError("no room")
        return create(self, title)

    monkeypatch.setattr(SessionStore, "create", elsewhere)
    desk = Desk(store)
    desk.do(NOTE)
    (said,) = desk.close()
    assert "a copy of it is in /" in said
    assert list(planted.iterdir()) == []
    (fresh,) = set(shared.iterdir()) - {planted}
    assert fresh.stat().st_mode & 0o777 == 0o700
    assert kept(SessionStore(fresh)) == [["N1"]]


def test_what_cannot_be_kept_anywhere_is_said_to_be_lost(store: SessionStore, full: Any) -> None:
    desk = Desk(store)
    desk.do(NOTE)
    (said,) = desk.close()
    assert said.endswith("what was done is lost")


# -- sessions with a file ----------------------------------------------------------------------


def test_a_session_that_another_has_is_not_changed(store: SessionStore) -> None:
    desk = Desk(store)
    desk.do(NOTE)
    other = Desk(store, opened=store.open(desk.session.id))
    assert other.why_read_only
    assert other.saving.state == "read_only"
    count = len(other.triage.entries)
    run = other.meet("/runs/a.log", "a.log", ())
    other.see(run, SEEN, verdict_of(finding()))
    other.observe()
    assert len(other.triage.entries) == count
    with pytest.raises(Refused, match="read-only"):
        other.do(BELIEF)
    other.close()
    desk.close()


def test_saving_is_told_until_the_desk_is_closed(store: SessionStore) -> None:
    desk = Desk(store)
    told: list[str] = []
    desk.on_saving = lambda: told.append(desk.saving.state)
    desk.do(NOTE)
    assert desk._opened is not None
    assert desk._opened.flush()
    desk.close()
    count = len(told)
    assert count
    desk.close()
    assert len(told) == count

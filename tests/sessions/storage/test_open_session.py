"""A session that is worked on: done at once, saved soon, never silently lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from mltd.sessions.actions.records import RecordDiagnosis
from mltd.sessions.errors import Refused, StorageError
from mltd.sessions.model.records import DiagnosisRecord
from mltd.sessions.storage.compacting import whole_journal
from mltd.sessions.storage.journal import read_journal
from mltd.sessions.storage.open_session import OpenSession
from mltd.sessions.storage.store import SessionStore

from .making import ID, MOMENT, WISHES, hypothesis, note, note_ids, put_journal, triage_of, wish_for


@given(WISHES)
def test_any_sequence_is_on_disk_as_it_is_in_memory(
    tmp_path_factory: pytest.TempPathFactory, wishes: list[Any]
) -> None:
    store = SessionStore(tmp_path_factory.mktemp("sessions"))
    with store.create("any") as session:
        wish_for(session, *wishes)
        assert session.flush(20)
        id = session.path.name  # noqa: A001 - what it is
        assert store.load(id).session == session.session
    with store.open(id) as again:
        assert again.session == session.session
        assert again.triage.entries == session.triage.entries
        assert (again.triage.undoable, again.triage.redoable) == (
            session.triage.undoable,
            session.triage.redoable,
        )


def test_undo_and_redo_go_on_after_reopening(store: SessionStore) -> None:
    with store.create("x") as first:
        wish_for(first, note(1), note(2), "undo")
    with store.open(first.path.name) as second:
        assert second.redo() is not None
        assert note_ids(second) == ["N1", "N2"]
    with store.open(first.path.name) as third:
        assert third.undo() is not None
        assert third.undo() is not None
        assert third.undo() is None
        assert note_ids(third) == []


def test_what_the_rules_refuse_is_not_written(opened: OpenSession) -> None:
    opened.do(hypothesis(1, "same"))
    with pytest.raises(Refused):
        opened.do(hypothesis(2, "same"))
    assert opened.flush()
    assert len((opened.path / "journal.jsonl").read_bytes().splitlines()) == 2


def test_a_torn_last_line_is_dropped_told_and_kept(store: SessionStore) -> None:
    data = whole_journal(triage_of(note(1), note(2)))
    folder = put_journal(store, data[:-20])
    with store.open(ID) as session:
        assert note_ids(session) == ["N1"]
        assert any("torn" in one for one in session.notices)
        session.do(note(3))
    (kept,) = folder.glob("journal.torn-*")
    assert data[:-20].endswith(kept.read_bytes())
    assert kept.stat().st_mode & 0o777 == 0o600
    assert str(kept) in " ".join(session.notices)
    again = read_journal((folder / "journal.jsonl").read_bytes(), ID)
    assert [one.id for one in again.triage.session.notes] == ["N1", "N3"]
    assert (again.notices, again.torn) == ((), b"")


def test_cut_off_anywhere_it_can_be_worked_on(store: SessionStore) -> None:
    data = whole_journal(triage_of(note(1), note(2), "undo", "redo"))
    ends = [place for place, byte in enumerate(data) if byte == 10]
    near = {end + shift for end in ends for shift in (-1, 0, 1)}
    for end in sorted({*near, *range(0, len(data), 17)}):
        put_journal(store, data[:end])
        with store.open(ID) as session:
            before = session.session.notes
            session.do(note(9))
            assert session.flush(20)
        after = store.load(ID).session.notes
        assert after[:-1] == before, end
        assert after[-1].id == "N9", end


def test_damaged_lines_are_kept_once_however_often_it_is_opened(store: SessionStore) -> None:
    lines = whole_journal(triage_of(note(1), note(2))).split(b"\n")
    folder = put_journal(store, b"\n".join([lines[0], b"garbage", *lines[2:]]))
    for _ in range(3):
        with store.open(ID) as session:
            assert note_ids(session) == ["N2"]
            assert "1 line is damaged" in session.notices[0]
    (kept,) = folder.glob("journal.damaged-*")
    assert kept.read_bytes() == b"garbage\n"


def test_a_long_journal_is_made_short(store: SessionStore) -> None:
    triage = triage_of(*(note(n % 7 + 1, f"version {n}") for n in range(2100)))
    folder = put_journal(store, whole_journal(triage))
    with store.open(ID) as session:
        assert session.session == triage.session
        assert session.undo() is not None
    assert len((folder / "journal.jsonl").read_bytes().splitlines()) == 202
    triage.undo()
    assert store.load(ID).session == triage.session


def test_closing_gives_the_lock_back_and_ends_everything(opened: OpenSession) -> None:
    opened.do(note(1))
    assert opened.close() == []
    assert opened.close() == []
    assert not (opened.path / "lock").exists()
    with pytest.raises(Refused, match="closed"):
        opened.do(note(2))
    with pytest.raises(Refused, match="closed"):
        opened.save_elsewhere(opened.path)


def test_without_its_files_it_says_so(store: SessionStore, opened: OpenSession) -> None:
    second = store.open(opened.path.name)
    for file in opened.path.iterdir():
        file.unlink()
    with pytest.raises(StorageError, match="cannot be read"):
        second.refresh()
    opened.do(note(1))
    assert not opened.flush()
    assert "removed by something else" in opened.why_read_only


def test_modes_that_somebody_has_opened_are_closed_again(store: SessionStore) -> None:
    folder = put_journal(store, whole_journal(triage_of(note(1))))
    folder.chmod(0o755)
    (folder / "journal.jsonl").chmod(0o644)
    store.open(ID).close()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "journal.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_written_down_is_not_done(opened: OpenSession) -> None:
    odd = DiagnosisRecord.model_construct(
        at=MOMENT, source="claude", run="", status="", body={"x": object()}
    )
    with pytest.raises(Refused, match="cannot be written down"):
        opened.do(RecordDiagnosis.model_construct(op="record_diagnosis", diagnosis=odd))
    assert opened.session.diagnoses == ()
    opened.do(note(1))
    assert opened.close() == []

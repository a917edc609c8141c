"""Where nothing can be saved it is said, tried again, and taken elsewhere."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.errors import StorageError
from mltd.sessions.storage.compacting import whole_journal
from mltd.sessions.storage.open_session import OpenSession
from mltd.sessions.storage.store import SessionStore

from .conftest import FullDisk
from .making import ID, HeldClock, States, hypothesis, note, note_ids, put_journal, triage_of


def test_a_full_disk_is_told_and_survived(tmp_path: Path, disk: FullDisk) -> None:
    clock, states = HeldClock(), States()
    store = SessionStore(tmp_path / "sessions", clock=clock)
    session = store.create("x")
    session.on_saving = states
    session.do(note(1))
    states.wait_for("saved")
    disk.is_full = True
    session.do(note(2))
    session.do(note(3))
    problem = states.wait_for("unsaved", 2).problem
    assert "no space left on device" in problem
    assert str(session.path) in problem
    assert note_ids(session) == ["N1", "N2", "N3"]
    disk.is_full = False
    clock.advance(1)
    states.wait_for("saved")
    assert session.close() == []
    assert store.load(session.path.name).session == session.session


def test_elsewhere_it_goes_on(store: SessionStore, tmp_path: Path, disk: FullDisk) -> None:
    session = store.create("x")
    old = session.path
    session.do(note(1))
    assert session.flush()
    disk.is_full = True
    session.do(note(2))
    assert not session.flush()
    disk.is_full = False
    elsewhere = tmp_path / "other disk"
    elsewhere.mkdir(mode=0o755)
    place = session.save_elsewhere(elsewhere)
    assert place == session.path == elsewhere / old.name
    assert elsewhere.stat().st_mode & 0o777 == 0o755, "a folder of the user stays as it is"
    assert place.stat().st_mode & 0o777 == 0o700
    assert (place / "journal.jsonl").stat().st_mode & 0o777 == 0o600
    session.do(note(3))
    assert session.flush()
    assert session.saving.state == "saved"
    assert store.load(place).session == session.session
    assert not (old / "lock").exists()
    assert session.close() == []
    with SessionStore(elsewhere).open(place.name) as again:
        assert note_ids(again) == ["N1", "N2", "N3"]


def test_a_place_that_is_no_better_changes_nothing(
    store: SessionStore, tmp_path: Path, disk: FullDisk
) -> None:
    session = store.create("x")
    disk.is_full = True
    session.do(note(1))
    with pytest.raises(StorageError, match="no space left"):
        session.save_elsewhere(tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []
    disk.is_full = False
    assert session.flush()
    assert session.close() == []


def test_a_session_that_is_read_only_can_be_copied_and_worked_on(
    store: SessionStore, opened: OpenSession, tmp_path: Path
) -> None:
    opened.do(note(1))
    assert opened.flush()
    second = store.open(opened.path.name)
    second.save_elsewhere(tmp_path / "copy")
    second.do(note(2))
    assert second.close() == []
    assert note_ids(opened) == ["N1"]
    assert note_ids(SessionStore(tmp_path / "copy").open(opened.path.name)) == ["N1", "N2"]


def test_saving_twice_at_the_same_place_makes_two(store: SessionStore, tmp_path: Path) -> None:
    with store.create("x") as session:
        first = session.save_elsewhere(tmp_path / "there")
        second = session.save_elsewhere(tmp_path / "there")
    assert second == first.with_name(f"{first.name}-2")


def test_what_could_not_be_saved_is_named_and_rescued(
    store: SessionStore, disk: FullDisk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    session = store.create("x")
    session.do(note(1))
    assert session.flush()
    assert session.rescue() is None
    disk.is_full = True
    session.do(note(2))
    session.undo()
    assert [(e.n, e.kind) for e in session.close()] == [(2, "do"), (3, "undo")]
    assert session.rescue() is None  # no room there, either
    disk.is_full = False
    rescued = session.rescue()
    assert rescued is not None
    assert rescued.parent == tmp_path
    assert rescued.stat().st_mode & 0o777 == 0o600
    again = store.load(rescued)
    assert again.session == session.session
    assert again.redoable
    assert store.summaries()[0].problem == ""
    assert [one.id for one in store.load(session.path.name).session.notes] == ["N1"]


def test_without_room_for_a_lock_it_opens_and_is_saved_later(
    tmp_path: Path, disk: FullDisk
) -> None:
    clock, states = HeldClock(), States()
    store = SessionStore(tmp_path / "sessions", clock=clock)
    with store.create("x") as first:
        first.do(note(1))
    disk.is_full = True
    session = store.open(first.path.name)
    session.on_saving = states
    assert session.why_read_only == ""
    assert "nothing can be saved" in session.notices[-1]
    session.do(note(2))
    states.wait_for("unsaved")
    disk.is_full = False
    clock.advance(1)
    states.wait_for("saved")
    assert (session.path / "lock").exists()
    assert session.close() == []
    assert [one.id for one in store.load(first.path.name).session.notes] == ["N1", "N2"]


def test_if_another_one_came_first_it_is_not_saved_at_all(
    store: SessionStore, disk: FullDisk
) -> None:
    with store.create("x") as first:
        first.do(note(1))
    disk.is_full = True
    session = store.open(first.path.name)
    disk.is_full = False
    with store.open(first.path.name) as other:
        other.do(note(2))
    session.do(note(3))
    assert not session.flush()
    assert "changed by another process" in session.why_read_only
    assert not (session.path / "lock").exists(), "nobody has to wait for us"
    assert len(session.close()) == 1


def test_a_take_over_without_room_waits_until_there_is_some(
    store: SessionStore, opened: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file may still be written to by its old owner: without a new one nothing is."""
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "replace", replace)
    second = store.open(opened.path.name, take_over=True)
    second.do(note(1))
    assert not second.flush()
    assert second.saving.state == "unsaved"
    monkeypatch.setattr(os, "replace", real)
    assert second.flush()
    assert second.close() == []
    assert len(store.load(opened.path.name).session.notes) == 1


def test_a_journal_that_cannot_be_made_short_is_used_as_it_is(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    triage = triage_of(*(note(n % 7 + 1) for n in range(2100)))
    put_journal(store, whole_journal(triage))
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", replace)
    with store.open(ID) as session:
        session.do(note(9))
        assert session.flush()
    monkeypatch.setattr(os, "replace", real)
    assert store.load(ID).session == session.session
    assert not list((store.folder / ID).glob("journal.new-*"))


def test_the_list_tells_only_what_is_on_disk(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = store.create("x")
    session.do(hypothesis(1))
    assert session.flush()
    real = os.write

    def write(handle: int, data: Any) -> int:
        if b"H2" in bytes(data):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    session.do(hypothesis(2))
    assert len(session.close()) == 1
    assert store.summaries()[0].hypotheses == 1


def test_a_journal_that_was_replaced_but_not_told_so_is_gone_on_with(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    triage = triage_of(*(note(n % 7 + 1) for n in range(2100)))
    put_journal(store, whole_journal(triage))
    real = os.fsync

    def fsync(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with store.open(ID) as session:
        assert session.session == triage.session
        while session.undo():
            pass
        assert session.flush()
        assert session.why_read_only == ""
    assert store.load(ID).session == session.session

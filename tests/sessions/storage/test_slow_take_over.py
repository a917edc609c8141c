"""A take-over that stalls anywhere never costs the next owner what it has saved."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.storage import files, lock, opening
from mltd.sessions.storage.lines import entry_line
from mltd.sessions.storage.lock import LostError, SessionLock
from mltd.sessions.storage.open_session import OpenSession
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import Entry, now

from .making import note, note_ids


class Slow:
    """Takes a session over in a thread that stops before its first call of something."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, store: SessionStore, name: str, where: Any, what: str
    ) -> None:
        self._real: Callable[..., Any] = getattr(where, what)
        self._has_stopped, self._may_go_on = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._take, args=(store, name))
        self._opened: list[OpenSession] = []
        monkeypatch.setattr(where, what, self._call)
        self._thread.start()
        assert self._has_stopped.wait(60)

    def _take(self, store: SessionStore, name: str) -> None:
        self._opened.append(store.open(name, take_over=True))

    def _call(self, *args: Any, **options: Any) -> Any:
        if threading.current_thread() is self._thread and not self._has_stopped.is_set():
            self._has_stopped.set()
            assert self._may_go_on.wait(60)
        return self._real(*args, **options)

    def goes_on(self) -> OpenSession:
        """The session as it has it in the end."""
        self._may_go_on.set()
        self._thread.join(60)
        return self._opened[0]


@pytest.fixture
def name(opened: OpenSession) -> str:
    opened.do(note(1))
    assert opened.flush()
    return opened.path.name


@pytest.mark.parametrize(
    ("where", "what"),
    [(opening, "replace_durably"), (files, "create_private")],
    ids=["before the draft", "in the draft"],
)
def test_before_it_replaces_the_journal_it_sees_that_it_is_too_late(
    store: SessionStore, name: str, monkeypatch: pytest.MonkeyPatch, where: Any, what: str
) -> None:
    slow = Slow(monkeypatch, store, name, where, what)
    quick = store.open(name, take_over=True)
    quick.do(note(2))
    assert quick.flush()
    late = slow.goes_on()
    assert "taken over by pid" in late.why_read_only
    assert late.saving.is_held
    assert note_ids(late) == ["N1", "N2"]
    quick.do(note(3))
    assert quick.close() == []
    assert late.close() == []
    assert [one.id for one in store.load(name).session.notes] == ["N1", "N2", "N3"]
    assert _left_over(quick.path) == set()


def test_while_it_replaces_the_journal_nobody_else_takes_it_over(
    store: SessionStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch, store, name, os, "replace")
    second = store.open(name, take_over=True)
    assert "has it open" in second.why_read_only
    late = slow.goes_on()
    assert late.why_read_only == ""
    late.do(note(2))
    assert late.close() == []
    assert [one.id for one in store.load(name).session.notes] == ["N1", "N2"]
    assert _left_over(late.path) == set()


def test_after_a_long_silence_there_is_nothing_left_to_replace_the_journal_with(
    store: SessionStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So long that its claim does not count any more, and the next owner goes ahead."""
    slow = Slow(monkeypatch, store, name, os, "replace")
    monkeypatch.setattr(lock, "CLAIM_LASTS", -1.0)
    quick = store.open(name, take_over=True)
    quick.do(note(2))
    assert quick.flush()
    late = slow.goes_on()
    assert "taken over by pid" in late.why_read_only
    quick.do(note(3))
    assert quick.close() == []
    assert [one.id for one in store.load(name).session.notes] == ["N1", "N2", "N3"]


def test_after_it_has_replaced_the_journal_it_looks_once_more(
    store: SessionStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its draft was not seen by the next owner, as may happen on a network file system."""
    monkeypatch.setattr(opening, "_remove_drafts", lambda folder: None)
    slow = Slow(monkeypatch, store, name, os, "replace")
    monkeypatch.setattr(lock, "CLAIM_LASTS", -1.0)
    quick = store.open(name, take_over=True)
    late = slow.goes_on()
    assert "taken over by pid" in late.why_read_only
    quick.do(note(2))
    assert not quick.flush(), "what is written now would be lost: its owner must know"
    assert "replaced" in quick.why_read_only


def test_what_the_former_owner_has_just_written_is_read_as_well(
    store: SessionStore, opened: OpenSession, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch, store, name, opening, "replace_durably")
    journal = opened.path / "journal.jsonl"
    line = entry_line(Entry(n=2, at=now(), action=note(2)))
    with journal.open("ab") as file:
        file.write(line)
    late = slow.goes_on()
    assert late.why_read_only == ""
    assert note_ids(late) == ["N1", "N2"]
    assert late.do(note(3)).n == 3
    assert late.close() == []
    assert [one.id for one in store.load(name).session.notes] == ["N1", "N2", "N3"]


def test_a_journal_that_never_comes_to_rest_is_only_read(
    store: SessionStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "is_unchanged", lambda path, content: False)
    second = store.open(name, take_over=True)
    assert "changes its journal all the time" in second.why_read_only
    assert _left_over(second.path) == set()


def test_a_lock_is_not_pinned_by_someone_who_has_lost_it(tmp_path: Path) -> None:
    first = SessionLock(tmp_path)
    second = SessionLock(tmp_path, take_over=True)
    with pytest.raises(LostError, match="taken over"), first.pinned():
        raise AssertionError("it is not ours")
    with second.pinned(), pytest.raises(lock.HeldError):
        SessionLock(tmp_path, take_over=True)
    SessionLock(tmp_path, take_over=True)
    assert [file.name for file in tmp_path.iterdir()] == ["lock"]


def test_a_lock_that_is_just_being_taken_over_is_lost(tmp_path: Path) -> None:
    first = SessionLock(tmp_path)
    claim = tmp_path / f"lock.claim-{first.me.token}"
    claim.write_bytes(first.me._replace(token="ace").as_json())
    with pytest.raises(LostError, match="about to take it over"), first.pinned():
        raise AssertionError("somebody else removes it")
    assert claim.exists()


def _left_over(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()} - {"journal.jsonl", "lock", "summary.json"}

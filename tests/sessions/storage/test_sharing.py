"""A session that is open twice has one writer, and the other one knows."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from mltd.sessions.errors import Refused
from mltd.sessions.storage.journal import read_journal
from mltd.sessions.storage.open_session import OpenSession
from mltd.sessions.storage.store import SessionStore

from .making import ID, note, note_ids


def test_a_second_one_is_read_only_and_sees_what_the_first_one_does(
    store: SessionStore, opened: OpenSession
) -> None:
    second = store.open(opened.path.name)
    assert f"pid {os.getpid()} on " in second.why_read_only
    assert second.saving.state == "read_only"
    with pytest.raises(Refused, match="read-only"):
        second.do(note(1))
    assert not second.refresh()
    opened.do(note(1))
    assert opened.flush()
    assert second.refresh()
    assert note_ids(second) == ["N1"]
    assert not second.refresh()
    opened.close()
    second.refresh()
    assert "free by now" in second.why_read_only
    assert second.close() == []


def test_a_line_that_is_being_written_is_no_news_for_a_reader(
    store: SessionStore, opened: OpenSession
) -> None:
    with (opened.path / "journal.jsonl").open("ab") as file:
        file.write(b'{"n":1,"at"')
    for second in (store.open(opened.path.name), store.open(opened.path.name, read_only=True)):
        assert second.notices == ()
        second.close()


def test_after_a_take_over_the_first_one_is_read_only(
    store: SessionStore, opened: OpenSession
) -> None:
    opened.do(note(1))
    assert opened.flush()
    second = store.open(opened.path.name, take_over=True)
    assert second.why_read_only == ""
    second.do(note(2))
    assert second.flush()
    opened.do(note(3))
    assert not opened.flush()
    assert "taken over by pid" in opened.why_read_only
    with pytest.raises(Refused, match="taken over"):
        opened.undo()
    assert [entry.n for entry in opened.close()] == [2]
    assert second.close() == []
    assert [one.id for one in store.load(second.path.name).session.notes] == ["N1", "N2"]


def test_a_late_write_of_the_first_one_does_not_reach_the_second(
    store: SessionStore, opened: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped before it writes, and goes on when the second one is about to."""
    real = os.write
    is_stopped, may_write, has_written = (threading.Event() for _ in range(3))

    def write(handle: int, data: Any) -> int:
        if b'"N1"' in bytes(data):
            is_stopped.set()
            assert may_write.wait(60)
            count = real(handle, data)
            has_written.set()
            return count
        if b'"N2"' in bytes(data):
            may_write.set()
            assert has_written.wait(60)
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    opened.do(note(1))
    assert is_stopped.wait(60)
    second = store.open(opened.path.name, take_over=True)
    second.do(note(2))
    assert second.flush(20)
    assert not opened.flush(20)
    second.do(note(3))
    assert second.close() == []
    assert len(opened.close()) == 1
    journal = read_journal((second.path / "journal.jsonl").read_bytes(), ID)
    assert [one.id for one in journal.triage.session.notes] == ["N2", "N3"]
    assert journal.damaged == b""

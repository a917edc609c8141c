"""Journals of other versions: newer ones are looked at, older ones are converted."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.errors import Refused, StorageError
from mltd.sessions.storage.compacting import whole_journal
from mltd.sessions.storage.lines import object_line
from mltd.sessions.storage.schema import MIGRATIONS, Lines
from mltd.sessions.storage.store import SessionStore

from .making import ID, hypothesis, note, put_journal, triage_of

DONE = triage_of(note(1), hypothesis(1), note(2), "undo")


def _newer() -> bytes:
    header, _, entries = whole_journal(DONE).partition(b"\n")
    newer = {**json.loads(header), "schema": 3, "mood": "calm"}
    newer.pop("crc")
    strange = {"n": 5, "at": "2026-11-16T18:00:00Z", "action": {"op": "merge", "with": "x"}}
    return object_line(newer) + entries + object_line(strange)


def test_a_newer_journal_is_shown_as_far_as_it_is_understood(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    folder = put_journal(store, _newer())
    opened = store.open(ID)
    assert opened.session == DONE.session
    assert "newer version" in opened.why_read_only
    assert "schema 3" in opened.why_read_only
    assert any("(merge)" in one for one in opened.notices)
    with pytest.raises(Refused, match="newer version"):
        opened.do(note(3))
    opened.close()
    assert (folder / "journal.jsonl").read_bytes() == _newer()
    assert [file.name for file in folder.iterdir()] == ["journal.jsonl"]


def test_a_newer_header_of_another_shape_still_opens(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    put_journal(store, b'{"schema":9,"base":{"identity":{"x":1}},"title":"shown"}\n')
    opened = store.open(ID)
    assert opened.session.title == "shown"
    assert "schema 9" in opened.why_read_only


# An invented schema 0, in which notes were called remarks and the header had a name.
OLD = b"""{"schema":0,"id":"%b","name":"loss explodes","created":"2026-11-16T17:45:12.345678Z"}
{"n":1,"at":"2026-11-16T17:45:12.345678Z","action":{"op":"remark","id":"N1","text":"note 1"}}
{"n":2,"at":"2026-11-16T17:45:13.345678Z","action":{"op":"remark","id":"N2","text":"note 2"}}
{"n":3,"at":"2026-11-16T17:45:14.345678Z","kind":"undo","of":2}
""" % ID.encode()


def _from_0(lines: Lines) -> Lines:
    header, *entries = lines
    for entry in entries:
        if entry.get("action"):
            entry["action"]["op"] = "put_note"
    return [{**header, "title": header["name"]}, *entries]


@pytest.fixture
def migration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MIGRATIONS, 0, _from_0)


@pytest.mark.usefixtures("migration")
def test_an_older_journal_is_converted_and_kept_aside(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    folder = put_journal(store, OLD)
    with store.open(ID) as opened:
        assert opened.session == triage_of(note(1), note(2), "undo").session
        assert opened.why_read_only == ""
        opened.redo()
        assert opened.flush()
    assert (folder / "journal.schema-0").read_bytes() == OLD
    first = json.loads((folder / "journal.jsonl").read_bytes().splitlines()[0])
    assert first["schema"] == 1
    assert [one.id for one in store.load(ID).session.notes] == ["N1", "N2"]


@pytest.mark.usefixtures("migration")
def test_whoever_only_reads_converts_nothing_on_disk(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    folder = put_journal(store, OLD)
    assert len(store.load(ID).session.notes) == 1
    assert len(store.open(ID, read_only=True).session.notes) == 1
    assert [file.name for file in folder.iterdir()] == ["journal.jsonl"]
    assert (folder / "journal.jsonl").read_bytes() == OLD


@pytest.mark.usefixtures("migration")
def test_a_torn_or_damaged_old_journal_is_converted_as_far_as_it_goes(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    broken = OLD.replace(b"\n", b"\n!!!\n", 1) + b'{"n":4,"at'
    folder = put_journal(store, broken)
    with store.open(ID) as opened:
        assert len(opened.session.notes) == 1
        assert len(opened.notices) >= 3
    assert (folder / "journal.schema-0").read_bytes() == broken
    assert next(folder.glob("journal.damaged-*")).read_bytes() == b"!!!\n"


@pytest.mark.usefixtures("migration")
@pytest.mark.parametrize("call", ["replace", "write"])
def test_without_room_to_convert_it_an_older_journal_is_only_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store = SessionStore(tmp_path / "sessions")
    folder = put_journal(store, OLD)
    real = getattr(os, call)

    def fail(*args: Any) -> Any:
        if call == "replace" or b"schema" in bytes(args[1]):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args)

    monkeypatch.setattr(os, call, fail)
    opened = store.open(ID)
    assert "no space left on device" in opened.why_read_only
    assert len(opened.session.notes) == 1
    assert (folder / "journal.jsonl").read_bytes() == OLD
    assert not (folder / "lock").exists()


def test_an_older_journal_without_a_way_to_us_stays_as_it_is(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    folder = put_journal(store, OLD)
    opened = store.open(ID)
    assert "cannot convert" in opened.why_read_only
    assert (folder / "journal.jsonl").read_bytes() == OLD


def test_a_migration_that_stumbles_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MIGRATIONS, 0, _from_0)
    store = SessionStore(tmp_path / "sessions")
    put_journal(store, OLD.replace(b'"name"', b'"label"'))
    with pytest.raises(StorageError, match="from schema 0 to 1"):
        store.open(ID)
    assert "from schema 0 to 1" in store.summaries()[0].problem

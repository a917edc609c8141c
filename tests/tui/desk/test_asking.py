"""A session in which Claude was asked is worth a file, and what came of it can be undone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from mltd.sessions.actions.records import RecordDiagnosis
from mltd.sessions.model.records import DiagnosisRecord
from mltd.sessions.storage.store import SessionStore
from mltd.tui.desk.desk import Desk

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def by(source: str, status: str) -> RecordDiagnosis:
    record = DiagnosisRecord(at=AT, source=source, run="R1", status=status)
    return RecordDiagnosis(diagnosis=record)


def test_a_question_to_claude_makes_the_draft_a_session(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    desk = Desk(store, "bad run")
    desk.do(by("analyzers", "diagnosis_complete"))
    assert desk.is_draft
    assert store.summaries() == []
    desk.do(by("claude", "failed"))
    assert not desk.is_draft
    desk.flush()
    (row,) = store.summaries()
    assert row.headline == "diagnosis complete"  # how the question ended is no verdict on the run
    kept = [record.source for record in store.load(row.id).session.diagnoses]
    assert kept == ["analyzers", "claude"]
    desk.undo()
    assert [record.source for record in desk.session.diagnoses] == ["analyzers"]
    desk.redo()
    assert [record.source for record in desk.session.diagnoses] == ["analyzers", "claude"]
    assert desk.close() == []

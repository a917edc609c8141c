"""Decisions, notes, and the diagnoses that were received."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.records import DiagnosisRecord
from .. import numbers
from ..markdown import table
from ..opinion.reading import sureness_of
from ..opinion.thread import is_talk
from ..pieces import Described, number, parts, text
from ..subject import Subject
from .wording import NONE_YET


def decisions(subject: Subject) -> Iterator[str]:
    """What was decided and why, then what was noted, in the order of time."""
    pen, session = subject.pen, subject.session
    if not session.decisions and not session.notes:
        yield NONE_YET
    if session.decisions:
        yield table(
            ("id", "when", "decision", "because"),
            [
                (one.id, numbers.moment(one.at), pen.cell(one.text), pen.cell(one.because))
                for one in session.decisions
            ],
        )
    for note in sorted(session.notes, key=lambda note: note.at.timestamp()):
        yield f"Note {note.id}, {numbers.moment(note.at)}:"
        yield pen.quote(note.text)


def diagnoses(subject: Subject) -> Iterator[str]:
    """Every diagnosis as it was received; a second opinion is marked as such."""
    records = subject.session.diagnoses
    rows = [_record(subject, record) for record in records if not is_talk(record)]
    fresh = [
        _row(subject, "now", "analyzers, for this report", run, body)
        for run, material in subject.material.runs.items()
        if (body := material.diagnosis) is not None and not _is_kept(subject, run, body)
    ]
    if not rows and not fresh:
        yield NONE_YET
        return
    yield table(("when", "by", "run", "status", "best cause", "confidence"), [*rows, *fresh])


def _is_kept(subject: Subject, run: str, fresh: Described) -> bool:
    """True if the session keeps the same diagnosis already."""
    kept = subject.session.diagnosis_of(run)
    return kept is not None and _sense(kept.body) == _sense(fresh)


def _sense(body: Described) -> tuple[object, ...]:
    causes = parts(body, "root_causes")
    found = [text(one, "title") for one in parts(body, "findings")]
    return text(body, "status"), found, [(text(c, "id"), number(c, "confidence")) for c in causes]


def _record(subject: Subject, record: DiagnosisRecord) -> tuple[str, ...]:
    by = "second opinion (Claude)" if record.is_claudes else subject.pen.cell(record.source)
    body = {"status": record.status, **record.body}
    return _row(subject, numbers.moment(record.at), by, record.run, body)


def _row(subject: Subject, when: str, by: str, run: str, body: Described) -> tuple[str, ...]:
    causes = parts(body, "root_causes")
    best = causes[0] if causes else {}
    sure = sureness_of({"cause": best, "confidence": best.get("confidence")}).confidence
    cause = f"{text(best, 'id')}: {text(best, 'issue')}" if best else ""
    return (
        when,
        by,
        subject.pen.cell(run or (subject.incident.id if subject.incident else "")),
        subject.pen.cell(text(body, "status")),
        subject.pen.cell(cause) or "none",
        numbers.UNKNOWN
        if sure is None
        else f"{sure:.2f} ({subject.pen.cell(text(best, 'basis'))})",
    )

"""Error summary, incident summary and constraints, timeline."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.constraints import Fact, TimelineEntry, Topic
from ...model.run_ref import RunRef
from .. import numbers
from ..markdown import table
from ..pieces import Described, number, text
from ..subject import Subject
from .wording import NONE_YET, NOT_KNOWN, fact_said

_MOST_FINDINGS = 6
_MOST_ENTRIES = 60
_LONGEST = 160
"""Characters of the error summary."""
_SOURCES = {
    "log": "log", "config": "config", "series": "metric", "file": "file", "analyzers": "analyzers",
}  # fmt: skip


def error_summary(subject: Subject) -> str:
    """What happened, in one line of plain text."""
    where = subject.incident.label if subject.incident is not None else ""
    # A run that failed is best described by what was found; else by what the session is called.
    what = text(subject.alarms[0], "title") if subject.alarms else subject.session.title
    said = f"{where}: {what}" if where and where not in what else what
    best = subject.best
    if best is not None and best.is_confirmed:
        said = f"{said}; confirmed cause: {best.statement}"
    elif not subject.alarms and subject.diagnosis is not None:
        said = f"{said}; the analyzers found nothing that needs attention"
    return said


def error(subject: Subject) -> Iterator[str]:
    """The error summary."""
    yield f"**{error_line(subject)}**"


def error_line(subject: Subject) -> str:
    """The error summary as Markdown, short enough for the title of an issue."""
    return subject.pen.headline(error_summary(subject), _LONGEST) or "nothing is known yet"


def constraints(subject: Subject) -> Iterator[str]:
    """The incident in short, and under which circumstances it happened."""
    pen, session = subject.pen, subject.session
    if subject.alarms:
        yield "What was found, the worst first:"
        yield table(
            ("finding", "what", "severity", "since step", "confidence"),
            [_finding(subject, one) for one in subject.alarms[:_MOST_FINDINGS]],
            "<<<><",
        )
        more = len(subject.alarms) - _MOST_FINDINGS
        if more > 0:
            yield f"and {numbers.counted(more, 'finding')} more."
    elif subject.diagnosis is not None:
        yield "The analyzers found nothing that needs attention."
    else:
        yield "No diagnosis of the run is at hand."
    if subject.main.state:
        yield f"State of the run: {pen.text(subject.main.state)}."
    facts = session.constraints.facts
    rows = [(topic.heading, *_fact(subject, facts.get(topic))) for topic in Topic]
    yield table(("constraint", "value", "source"), rows)
    if session.runs:
        yield table(
            ("run", "name", "part", "location", "read for this report"),
            [_run(subject, ref) for ref in session.runs],
        )
        for ref in session.runs:
            yield from (f"Note: {pen.text(one)}." for one in subject.material.of(ref.id).problems)
    else:
        yield "The session has no run yet."


def _finding(subject: Subject, one: Described) -> tuple[str, ...]:
    pen = subject.pen
    sure = number(one, "confidence")
    said = numbers.UNKNOWN if sure is None else f"{sure:.2f} ({pen.cell(text(one, 'basis'))})"
    return (
        pen.code_cell(text(one, "id")),
        pen.cell(text(one, "title")),
        pen.cell(text(one, "severity")),
        numbers.place(number(one, "first_step")),
        said,
    )


def _fact(subject: Subject, fact: Fact | None) -> tuple[str, str]:
    if fact is None:
        return NOT_KNOWN, numbers.UNKNOWN
    shown = fact_said(fact, subject.pen.cell)
    if not fact.is_prefilled:
        return shown, "person"
    kind = _SOURCES.get(fact.source) or subject.pen.cell(fact.source)
    where = [subject.pen.code_cell(ref.ref) for ref in fact.evidence[:2]]
    return shown, f"pre-filled from {kind} {', '.join(where)}".rstrip()


def _run(subject: Subject, ref: RunRef) -> tuple[str, ...]:
    pen, material = subject.pen, subject.material.of(ref.id)
    read = "yes" if material.available else f"no: {pen.cell(material.why_not)}"
    return ref.id, pen.cell(ref.label), ref.part.value, pen.code_cell(ref.location), read


def timeline(subject: Subject) -> Iterator[str]:
    """What happened when."""
    entries = subject.session.constraints.timeline
    if not entries:
        yield NONE_YET
        return
    shown = entries[:_MOST_ENTRIES]
    rows = [_entry(subject, entry) for entry in shown]
    by_people = {entry.source == "person" for entry in shown if entry.at is not None}
    if len(by_people) > 1:
        yield "Times with Z are UTC; those without are the log's own, which states no zone."
    elif by_people == {False}:
        yield "Times are the log's own, which states no zone."
    yield table(("when", "step", "what", "source"), rows, "<><<")
    if len(entries) > _MOST_ENTRIES:
        yield f"and {len(entries) - _MOST_ENTRIES:,} more entries."


def _entry(subject: Subject, entry: TimelineEntry) -> tuple[str, ...]:
    pen = subject.pen
    source = _SOURCES.get(entry.source) or pen.cell(entry.source)
    if entry.evidence is not None:
        source = f"{source} {pen.code_cell(entry.evidence.ref)}"
    at = entry.at
    if at is not None and entry.source != "person":
        # Read from a log, which states no zone: the digits are all that is known.
        at = at.replace(tzinfo=None)
    return (
        numbers.moment(at, to_the_second=True),
        numbers.place(entry.step),
        pen.cell(entry.text),
        source,
    )

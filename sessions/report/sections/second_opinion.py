"""What Claude was asked and answered, marked as Claude's from beginning to end."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.records import DiagnosisRecord
from .. import numbers
from ..markdown import bullets
from ..opinion import OpinionWriter, opinion_in, tally_of
from ..opinion.standing import standing
from ..opinion.thread import Conversation, conversations, latest_opinion, question_of, status_of
from ..opinion.writing import left_out, some
from ..pieces import Described, text, texts
from ..subject import Subject

HEADING = "Second opinion (Claude)"
_LEVEL = 3
_ANSWER = 6000
"""Characters of an answer in words; of what was said beside an opinion a quarter."""
_QUESTION = 1500
_MOST_LOOKS = 12
_MOST_TALKS = 10
_MOST_QUESTIONS = 20
_MASKED = {
    "True": "secrets, users, hosts and paths",
    "False": "secrets; users, hosts and paths were not",
}


def second_opinion(subject: Subject) -> Iterator[str]:
    """Every conversation with Claude; nothing if there was none."""
    talks = conversations(subject.session.diagnoses)
    if not talks:
        return
    yield (
        "A second opinion is what a language model answered. A program looked up each of its "
        "citations: what is not there is struck through. Its conclusions were not measured, "
        "whatever they rest on; an experiment can show them. Nobody checked what it says in words."
    )
    shown = talks[-_MOST_TALKS:]
    if len(shown) < len(talks):
        yield f"{numbers.counted(len(talks) - len(shown), 'earlier conversation')} left out."
    for talk in shown:
        yield from _conversation(subject, talk)


def opinion_line(subject: Subject) -> str:
    """Whether Claude was asked and what it makes of the best cause; empty if it was not."""
    records = subject.session.diagnoses
    if not any(record.is_claudes for record in records):
        return ""
    opinion = latest_opinion(records, subject.incident.id if subject.incident else "")
    if opinion is None:
        return "Claude was asked and gave no opinion"
    told = standing(subject.pen, opinion, subject.best)
    return f"second opinion (Claude, {tally_of(opinion)}): {told}"


def _conversation(subject: Subject, talk: Conversation) -> Iterator[str]:
    about = subject.pen.text(subject.run_label(talk.first.run), 80)
    on = f" about {about}" if about else ""
    yield f"### Asked {numbers.moment(talk.first.at)}{on}"
    yield bullets(_circumstances(subject, talk))
    if question := question_of(talk.first):
        # What it followed upon is not kept any more.
        yield subject.pen.quote(question, _QUESTION)
    yield from _answer(subject, talk.first, _LEVEL)
    for record in talk.later[:_MOST_QUESTIONS]:
        yield f"#### Asked afterwards, {numbers.moment(record.at)}"
        yield subject.pen.quote(question_of(record), _QUESTION)
        yield from _answer(subject, record, _LEVEL + 1)
    yield from left_out(talk.later, _MOST_QUESTIONS, "question")


def _circumstances(subject: Subject, talk: Conversation) -> Iterator[str]:
    pen, body = subject.pen, talk.first.body
    model, host = pen.code(text(body, "model"), 80), pen.code(text(body, "host"), 120)
    yield f"**Model**: {model or 'not recorded'}, sent to {host or 'a host that is not recorded'}"
    masked = _MASKED.get(str(body.get("is_redacted")), "not recorded")
    yield f"**Masked before it was sent**: {masked}"
    yield f"**Used**: {talk.used or 'not recorded'}"


def _answer(subject: Subject, record: DiagnosisRecord, level: int) -> Iterator[str]:
    """An opinion with its verdicts, or what there is instead."""
    pen, body, opinion = subject.pen, record.body, opinion_in(record.body)
    said = text(body, "text").strip()
    yield from _failure(subject, record)
    if opinion is not None:
        yield f"**Citations:** {tally_of(opinion)}"
        yield from OpinionWriter(opinion, pen, level).blocks()
        if said:
            yield "What Claude said beside it (not checked):"
            yield pen.quote(said, _ANSWER // 4)
    elif said:
        is_whole = status_of(record) == "replied"
        yield f"Claude{'' if is_whole else ', until it was cut short'} (not checked):"
        yield pen.quote(said, _ANSWER)
    elif not _is_failure(record):
        yield "Nothing of the answer is kept."
    yield from _looks(subject, body)


def _is_failure(record: DiagnosisRecord) -> bool:
    return status_of(record) in ("failed", "cancelled") or bool(record.body.get("error"))


def _failure(subject: Subject, record: DiagnosisRecord) -> Iterator[str]:
    if not _is_failure(record):
        return
    if status_of(record) == "cancelled":
        yield "It was cancelled before Claude had answered."
        return
    pen, error = subject.pen, record.body.get("error")
    known = error if isinstance(error, dict) else {}
    why = pen.text(text(known, "message").rstrip(". ")) or "no reason is kept"
    hint = pen.text(text(known, "hint").rstrip(". "))
    yield f"There was no answer: {why}{f' ({hint})' if hint else ''}."


def _looks(subject: Subject, body: Described) -> Iterator[str]:
    looks = [said for one in texts(body, "looks") if (said := subject.pen.code(one))]
    if looks:
        yield f"Claude looked {numbers.counted(len(looks), 'time')} into the artifacts:"
        yield bullets(some(looks, _MOST_LOOKS, "look"))

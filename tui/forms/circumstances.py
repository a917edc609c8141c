"""The circumstances of an incident: facts, the timeline, and items that do not apply."""

from __future__ import annotations

import re
from datetime import datetime

from mltd.sessions.actions.checks import MarkCheck
from mltd.sessions.actions.records import AddTimelineEntry, SetFact
from mltd.sessions.model.checklist import CheckItem, MarkState
from mltd.sessions.model.constraints import Fact, TimelineEntry, Topic

from .field import Field, Values, fitting_kind
from .form import Form, Reading

_STEP = re.compile(r"(?:step\s*)?(?P<number>\d[\d,_]*(?:\.\d+)?(?:[eE]\+?\d+)?)", re.IGNORECASE)
_MOMENTS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%H:%M:%S", "%H:%M")


def fact_form(topic: Topic, fact: Fact | None = None) -> Form[SetFact]:
    """Answer a question about the circumstances; an empty answer takes it back."""

    def read(values: Values) -> SetFact:
        text = Reading(values).text("value")
        return SetFact(topic=topic, fact=Fact(value=text) if text else None)

    value = fact.value if fact is not None else ""
    note = ""
    if fact is not None and fact.is_prefilled:
        places = ", ".join(piece.ref for piece in fact.evidence)
        note = f"Read from the {fact.source}{f', {places}' if places else ''}: saving confirms it."
    return Form(
        topic.heading.capitalize(),
        (
            Field(
                "value",
                "Answer",
                value,
                fitting_kind(value),
                hint=topic.question,
                is_required=fact is None,
            ),
        ),
        read,
        note=note,
    )


def waive_form(item: CheckItem) -> Form[MarkCheck]:
    """Leave an item of the checklist out, with a reason."""

    def read(values: Values) -> MarkCheck:
        reason = Reading(values).text("reason")
        return MarkCheck(item=item.id, state=MarkState.WAIVED, reason=reason)

    hint = "what makes it unnecessary here? It stands in the report"
    return Form(
        f"Waive: {item.title}",
        (Field("reason", "Reason", hint=hint, is_required=True),),
        read,
        note=item.why,
        accept_label="Waive",
    )


def timeline_form(at: datetime) -> Form[AddTimelineEntry]:
    """What happened, and when: at a moment, at a step, or both; `at` is now."""
    today = at.astimezone()

    def read(values: Values) -> AddTimelineEntry:
        reading = Reading(values)
        moment = reading.parsed("at", lambda text: _moment(text, today), None)
        step = reading.parsed("step", _step, None)
        reading.finish()
        return AddTimelineEntry(
            entry=TimelineEntry(text=reading.text("text"), at=moment, step=step)
        )

    return Form(
        "Timeline",
        (
            Field("text", "What", hint="e.g. node gpu-17 was drained", is_required=True),
            Field(
                "at",
                "When",
                today.strftime("%Y-%m-%d %H:%M"),
                hint=f"e.g. {today:%Y-%m-%d %H:%M}, or {today:%H:%M} today; empty: not known",
            ),
            Field("step", "Step", hint="e.g. 24,590; empty: not known"),
        ),
        read,
        accept_label="Add",
    )


def _moment(text: str, today: datetime) -> datetime | None:
    """A moment as one would write it, in local time where it names no zone."""
    if not text:
        return None
    for form in _MOMENTS:
        try:
            found = datetime.strptime(text, form)  # noqa: DTZ007 - the zone is given below
        except ValueError:
            continue
        if "%Y" not in form:
            found = found.replace(year=today.year, month=today.month, day=today.day)
        return found.astimezone()
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise ValueError(f"{text!r} is no moment: say e.g. {today:%Y-%m-%d %H:%M}") from None


def _step(text: str) -> float | None:
    if not text:
        return None
    found = _STEP.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no step: say e.g. 24,590")
    return float(found["number"].replace(",", "").replace("_", ""))

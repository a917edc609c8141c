"""Validation checklist and confidence statement: how far the conclusions can be trusted."""

from __future__ import annotations

from collections.abc import Iterator

from ...checks import missing
from ...model.checklist import CHECKS, CheckItem, CheckMark, MarkState, Phase
from ...model.experiment import ExperimentStatus
from .. import numbers
from ..causes import ENOUGH, Cause
from ..markdown import bullets
from ..pieces import texts
from ..subject import Subject
from .wording import CLAUDE, evidence_line

_MOST_REASONS = 8


def checklist(subject: Subject) -> Iterator[str]:
    """Every item of the five phases, and what was not done."""
    marks = subject.session.marks
    for phase in Phase:
        items = [item for item in CHECKS if item.phase is phase]
        yield f"**{phase.number}. {phase.heading}**"
        yield "\n".join(_item(subject, item, marks.get(item.id)) for item in items)
    undone = [item for item in CHECKS if _state(marks.get(item.id)) not in _SETTLED]
    if not undone:
        yield "Not done: nothing; every item is done or waived."
        return
    yield f"Not done: {len(undone)} of {len(CHECKS)} items."
    yield bullets(
        f"{phase.heading}: {'; '.join(titles)}"
        for phase in Phase
        if (titles := [item.title for item in undone if item.phase is phase])
    )


_SETTLED = (MarkState.DONE, MarkState.WAIVED)


def _state(mark: CheckMark | None) -> MarkState:
    return mark.state if mark is not None else MarkState.OPEN


def _item(subject: Subject, item: CheckItem, mark: CheckMark | None) -> str:
    pen, state = subject.pen, _state(mark)
    if mark is None or state is MarkState.OPEN:
        lacks = missing(item.id, subject.written, subject.main.seen)
        return (
            f"- [ ] {item.title}: {pen.text(lacks)}" if lacks else f"- [ ] {item.title}. {item.why}"
        )
    reason = pen.text(mark.reason) if mark.reason.strip() else ""
    if state is MarkState.WAIVED:
        return f"- [ ] ~~{item.title}~~ (waived: {reason or 'no reason given'})"
    if state is MarkState.IN_PROGRESS:
        return f"- [ ] {item.title} (in progress{f': {reason}' if reason else ''})"
    by = "seen by the app" if mark.by == "app" else f"by {pen.text(mark.by)}"
    seen = ", ".join(pen.code(ref.ref) for ref in mark.evidence[:2])
    said = [by, *(part for part in (reason, seen) if part)]
    return f"- [x] {item.title} ({said[0]}{': ' if said[1:] else ''}{'; '.join(said[1:])})"


def confidence(subject: Subject) -> Iterator[str]:
    """How sure, on what, how sure at most, and what would change that."""
    best = subject.best
    if best is None:
        yield "There is no root cause to be sure of: nothing is confirmed, nothing is open."
    else:
        if not subject.is_known:
            yield "The root cause is not known."
        yield (
            f"**{best.confidence:.2f}** (basis: {best.basis}, ceiling {best.ceiling:.2f}) that "
            f"{_named(subject, best)}. {_verdict(best)}"
        )
    yield (
        "Ceilings: inference 0.70 (reasoned from other facts), research 0.85 (a documented "
        "failure pattern), observation 0.95 (an artifact or an experiment shows it)."
    )
    doubts = list(_doubts(subject, best))
    if doubts:
        yield "What would change our mind:"
        yield bullets(doubts[:_MOST_REASONS])


def _named(subject: Subject, cause: Cause) -> str:
    by = "proposed by Claude, " if cause.source == CLAUDE else ""
    label = f"{cause.label}, {by}" if cause.label else ""
    return f"{label}*{subject.pen.text(cause.statement, 200)}*"


def _verdict(cause: Cause) -> str:
    if cause.is_confirmed:
        return "It is confirmed."
    if cause.confidence < ENOUGH:
        return f"It is not confirmed, and below {ENOUGH:.2f}: take it as a lead, not as an answer."
    return "It is not confirmed by an experiment."


def _doubts(subject: Subject, best: Cause | None) -> Iterator[str]:
    pen, session = subject.pen, subject.session
    for piece in best.against if best is not None else ():
        yield f"it speaks against the cause that {evidence_line(pen, piece)}"
    for one in session.experiments:
        if best is not None and one.hypothesis == best.label:
            if one.status in (ExperimentStatus.PLANNED, ExperimentStatus.RUNNING):
                yield f"{one.id} ({one.status.value}) fails: {pen.text(one.change)}"
            elif one.status is ExperimentStatus.PASSED:
                yield f"a repetition of {one.id} with other seeds does not pass"
            elif one.result is not None and one.result.needed:
                more = numbers.counted(one.result.needed, "more point")
                yield f"{one.id}, so far inconclusive, is decided by {more}"
    for rival in subject.causes:
        is_rival = rival.is_alive and rival is not best and best is not None
        if is_rival and best is not None and set(rival.explains) & set(best.explains):
            yield f"evidence for a rival: {pen.text(rival.statement)}; confidence {rival.said}"
    # Without a cause and without an alarm there is nothing to decide.
    if (best is not None and not best.is_confirmed) or (best is None and subject.alarms):
        asked = dict.fromkeys(best.requests if best is not None else ())
        asked.update(dict.fromkeys(texts(subject.diagnosis or {}, "requests")))
        yield from (pen.text(one) for one in asked)
    for ref in session.runs:
        material = subject.material.of(ref.id)
        if not material.available:
            yield f"the files of {ref.id}, which could not be read: {pen.text(material.why_not)}"

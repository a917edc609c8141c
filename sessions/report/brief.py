"""The report in five lines."""

from __future__ import annotations

from collections.abc import Iterator

from .fixes import FixState
from .numbers import place
from .pieces import Piece, parts, text
from .sections.actions import guard_of
from .sections.answer import root_cause
from .sections.second_opinion import opinion_line
from .sections.summary import error_line
from .sections.wording import evidence_line
from .subject import Subject

_MOST_PIECES = 3


def brief(subject: Subject) -> str:
    """Error summary, root cause, evidence, fix, prevention: a line each."""
    lines = (
        ("Error summary", error_line(subject)),
        ("Root cause", "; ".join(filter(None, (root_cause(subject), opinion_line(subject))))),
        ("Evidence", "; ".join(_evidence(subject)) or "none recorded"),
        ("Fix", _fix(subject)),
        ("Prevention", _prevention(subject)),
    )
    return "\n".join(f"{n}. **{name}**: {said}" for n, (name, said) in enumerate(lines, 1)) + "\n"


def _evidence(subject: Subject) -> Iterator[str]:
    # What speaks for a mere guess says less than what was seen.
    is_told = subject.best is not None and (subject.is_known or not subject.alarms)
    pieces = list(subject.best.evidence if subject.best is not None and is_told else ())
    if not pieces and subject.alarms:
        refs = parts(subject.alarms[0], "evidence")
        pieces = [Piece("", text(ref, "ref"), text(ref, "quote"), "") for ref in refs]
    for piece in pieces[:_MOST_PIECES]:
        yield evidence_line(subject.pen, piece)
    if not pieces and subject.onset is not None:
        yield f"since step {place(subject.onset)}"


def _fix(subject: Subject) -> str:
    plan = next((plan for plan in subject.fixes if plan.state is not FixState.TRIED), None)
    if plan is None:
        return "none known"
    pen = subject.pen
    said = f"{pen.text(plan.change)} ({plan.said})"
    if plan.example.strip() and "\n" not in plan.example.strip():
        said += f": {pen.code(plan.example)}"
    if plan.result:
        return f"{said}; {pen.text(plan.result)}"
    return f"{said}; verify: {pen.text(plan.verify)}" if plan.verify else said


def _prevention(subject: Subject) -> str:
    pen = subject.pen
    items = [
        pen.text(item.text) + (f" ({pen.text(item.owner)})" if item.owner.strip() else "")
        for item in subject.session.prevention[:3]
    ]
    if items:
        return "; ".join(items)
    guard = guard_of(subject)
    return f"none recorded; {guard}" if guard else "none recorded"

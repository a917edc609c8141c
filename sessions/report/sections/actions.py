"""Fixes, reproduction steps, prevention: what somebody else can act on."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.constraints import Topic
from ...model.experiment import Purpose
from ...model.records import Prevention
from .. import numbers
from ..fixes import FixPlan, FixState
from ..markdown import bullets, fence, table
from ..pieces import number, text
from ..subject import Subject
from .wording import NONE_YET, NOT_KNOWN, fact_said


def fixes(subject: Subject) -> Iterator[str]:
    """Fixes in priority order, each with everything that is needed to carry it out."""
    plans = subject.fixes
    if not plans:
        yield "No fix was applied or proposed."
        return
    alive = [plan for plan in plans if plan.state is not FixState.TRIED]
    for priority, plan in enumerate(alive, start=1):
        yield from _fix(subject, priority, plan)
    tried = [plan for plan in plans if plan.state is FixState.TRIED]
    if tried:
        yield "Tried, did not help:"
        yield bullets(
            f"{plan.experiment}: {subject.pen.text(plan.change)} "
            f"({subject.pen.text(plan.result)})" if plan.result
            else f"{plan.experiment}: {subject.pen.text(plan.change)}"
            for plan in tried
        )  # fmt: skip


def _fix(subject: Subject, priority: int, plan: FixPlan) -> Iterator[str]:
    pen = subject.pen
    yield f"### {priority}. {pen.text(plan.change, 160)}"
    quick = ", quick: no training from scratch" if plan.is_quick else ""
    rollback = plan.rollback or (
        "undo the change" if plan.reversible else "it cannot be taken back"
    )
    facts = [
        ("State", f"{plan.said}{quick}"),
        ("Addresses", _addressed(subject, plan)),
        ("Result", pen.text(plan.result)),
        ("Expected impact", pen.text(plan.expected_impact)),
        ("Verify", pen.text(plan.verify)),
        ("If it fails", pen.text(plan.if_it_fails)),
        ("Rollback", pen.text(rollback)),
    ]
    yield bullets(f"**{name}**: {said}" for name, said in facts if said)
    if plan.example.strip():
        yield pen.fence(plan.example, "text", 20)


def _addressed(subject: Subject, plan: FixPlan) -> str:
    label = subject.pen.text(plan.addresses)
    if not plan.cause or plan.cause == plan.addresses:
        return subject.pen.code(plan.cause) if plan.cause else label
    return f"{label} {subject.pen.code(plan.cause)}"


def reproduction(subject: Subject) -> Iterator[str]:
    """Numbered steps; what is not known is said to be so."""
    pen, main = subject.pen, subject.main
    facts = subject.session.constraints.facts

    def known(topic: Topic) -> str:
        return fact_said(facts.get(topic), pen.text)

    configs = ", ".join(pen.code(path) for path in main.configs[:4])
    steps = [
        f"Check out the code: {known(Topic.REVISION)}.",
        f"Environment: {known(Topic.FRAMEWORK)}; hardware: {known(Topic.HARDWARE)}.",
        f"Data: {known(Topic.DATA)}.",
        f"Seeds: {known(Topic.SEEDS)}.",
        f"Configuration: {configs or ('as listed below' if main.settings else NOT_KNOWN)}.",
        *_commands(subject),
        f"It has come back if this shows: {_symptom(subject)}.",
    ]
    yield "\n".join(f"{n}. {step}" for n, step in enumerate(steps, start=1))
    if main.settings:
        more = f" (and {main.more_settings:,} more)" if main.more_settings else ""
        yield f"Settings of the run{more}:"
        # One by one: whether a value is a secret is told by its name.
        lines = [pen.plain(f"{name}: {value}", 160) for name, value in main.settings]
        yield fence("\n".join(lines), "yaml")
    for one in subject.session.experiments:
        if one.command.strip() and one.purpose is Purpose.REPRODUCTION:
            yield f"{one.id}, the smallest slice on which it is reproduced:"
            yield pen.fence(one.command, "text", 20)


def _commands(subject: Subject) -> Iterator[str]:
    """Which commands there are, and on which slice."""
    tests = subject.session.experiments
    slices = [one for one in tests if one.purpose is Purpose.REPRODUCTION]
    if slices:
        for one in slices:
            verdict = one.status.value
            yield f"Smallest slice ({one.id}, {verdict}): {subject.pen.text(one.change)}."
    else:
        yield f"Smallest slice: {NOT_KNOWN}; nobody has reproduced it on a part of the data."
    if not any(one.command.strip() for one in slices):
        others = [one.id for one in tests if one.command.strip()]
        hint = f"; experiments have theirs: {', '.join(others)}" if others else ""
        yield f"Command of the failing run: {NOT_KNOWN}{hint}."


def _symptom(subject: Subject) -> str:
    if not subject.alarms:
        return NOT_KNOWN
    first = subject.alarms[0]
    step = number(first, "first_step")
    since = f", at about step {numbers.place(step)}" if step is not None else ""
    return f"{subject.pen.text(text(first, 'title'))}{since}"


def prevention(subject: Subject) -> Iterator[str]:
    """What keeps it from coming back, and who sees to it."""
    pen, session = subject.pen, subject.session
    yield f"Owner of the incident: {pen.text(session.owner) if session.owner else NOT_KNOWN}."
    if not session.prevention:
        yield NONE_YET
        guard = guard_of(subject)
        if guard:
            yield f"At hand without any work: {guard}."
        return
    yield table(
        ("id", "what", "kind", "owner", "state"),
        [_prevention(subject, item) for item in session.prevention],
    )


def guard_of(subject: Subject) -> str:
    """What would ring if it came back, as Markdown; empty if nothing was found."""
    if not subject.alarms:
        return ""
    found = subject.pen.code(text(subject.alarms[0], "id"))
    return f"`mltd-tui check` on the next run exits with 1 if {found} comes back"


def _prevention(subject: Subject, item: Prevention) -> tuple[str, ...]:
    pen = subject.pen
    owner = pen.cell(item.owner) if item.owner.strip() else "*nobody yet*"
    return item.id, pen.cell(item.text), item.kind.value, owner, "done" if item.is_done else "open"

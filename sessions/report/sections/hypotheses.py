"""Hypotheses and their experiments: what was believed, tried, and what came out."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.experiment import Experiment, Purpose
from ...model.hypothesis import Hypothesis
from .. import numbers
from ..causes import by_status
from ..drawing import Gallery
from ..markdown import bullets, table
from ..subject import Subject
from .comparison import result_blocks
from .wording import CLAUDE, FROM_CLAUDE, NONE_YET, by, listed

_MOST_HISTORY = 20


def hypotheses(subject: Subject, gallery: Gallery) -> Iterator[str]:
    """An overview, then each hypothesis with its history and its experiments."""
    session = subject.session
    if not session.hypotheses:
        yield NONE_YET
        return
    if subject.is_draft:
        yield "Proposed by the analyzers; nobody has taken one up yet."
    ordered = by_status(session.hypotheses)
    yield table(
        ("id", "hypothesis", "status", "confidence", "experiments"),
        [_overview(subject, one) for one in ordered],
    )
    for one in ordered:
        yield from _hypothesis(subject, one)
        for experiment in session.experiments_of(one.id):
            yield from _experiment(subject, gallery, experiment)


def _overview(subject: Subject, one: Hypothesis) -> tuple[str, ...]:
    tests = ", ".join(
        f"{test.id} {test.status.value}" for test in subject.session.experiments_of(one.id)
    )
    confidence = str(one.confidence)
    statement = subject.pen.cell(one.statement) + (" (Claude's)" if one.source == CLAUDE else "")
    return one.id, statement, one.status.value, confidence, tests or "none"


def _hypothesis(subject: Subject, one: Hypothesis) -> Iterator[str]:
    pen = subject.pen
    yield f"### {one.id} ({one.status.value}): {pen.text(one.statement, 160)}"
    if one.source == CLAUDE:
        yield FROM_CLAUDE
    if len(one.history) > 1:
        yield "How the confidence came about:"
        yield table(
            ("when", "confidence", "why", "by"),
            [
                (
                    numbers.moment(step.at),
                    str(step.confidence),
                    pen.cell(step.reason),
                    by(pen, step.source),
                )
                for step in one.history[-_MOST_HISTORY:]
            ],
        )
    elif one.history:
        step = one.history[0]
        yield (
            f"{step.confidence} since {numbers.moment(step.at)}, by {by(pen, step.source)}: "
            f"{pen.text(step.reason)}"
        )
    is_told = any(step.reason.startswith("explains ") for step in one.history)
    if one.explains and not is_told:
        yield f"Explains {listed(pen, one.explains)}."


def _experiment(subject: Subject, gallery: Gallery, one: Experiment) -> Iterator[str]:
    pen = subject.pen
    yield f"#### {one.id} ({one.status.value}): {pen.text(one.change, 160)}"
    facts = []
    if one.purpose is Purpose.REPRODUCTION:
        facts.append("**Purpose**: reproduction on a small slice")
    facts.append(f"**Variable**: {one.variable.value}")
    for name, criteria in (
        ("Passes if", one.success),
        ("Fails if", one.failure),
        ("Guards", one.guards),
    ):
        if criteria:
            said = "; ".join(pen.text(str(criterion)) for criterion in criteria)
            facts.append(f"**{name}**: {said}")
    if not one.success:
        facts.append(
            "**Passes if**: the default bar: the target improves by more than 10% with the "
            "interval excluding 0, and no guarded metric regresses by more than 5%"
        )
    when = [
        f"{word} {numbers.moment(at)}"
        for word, at in (("planned", one.created), ("started", one.started), ("ended", one.ended))
        if at is not None
    ]
    facts.append(f"**When**: {', '.join(when)}")
    if one.run:
        facts.append(f"**Run**: {pen.text(subject.run_label(one.run))}")
    yield bullets(facts)
    if one.command.strip():
        yield "Command:"
        yield pen.fence(one.command, "text", 20)
    if one.result is None:
        yield "There is no result yet."
        return
    yield from result_blocks(subject, one.result)
    chart = subject.material.overlays.get(one.id)
    if chart is not None:
        yield from gallery.show(chart)

"""Root causes: confirmed ones first, then the best of those that are not."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.hypothesis import HypothesisStatus
from ..causes import ENOUGH, MOST_UNCONFIRMED, Cause
from ..markdown import bullets
from ..pieces import texts
from ..subject import Subject
from .answer import root_cause
from .wording import CLAUDE, evidence_line

_MOST_PIECES = 6
_MOST_REQUESTS = 6
_STATUS = {
    HypothesisStatus.TESTING: "being tested",
    None: "proposed by the analyzers, taken up by nobody yet",
}


def root_causes(subject: Subject) -> Iterator[str]:
    """Every cause with its confidence, basis and ceiling, and what speaks for and against it."""
    alive = [cause for cause in subject.causes if cause.is_alive]
    confirmed = [cause for cause in alive if cause.is_confirmed]
    others = [cause for cause in alive if not cause.is_confirmed][:MOST_UNCONFIRMED]
    if confirmed and others:
        # Rivals of a confirmed cause stand in their own section.
        others = [cause for cause in others if cause.label]
    if not confirmed:
        yield from _unconfirmed(subject, others)
    for cause in (*confirmed, *others):
        yield from _cause(subject, cause)
    if others and not confirmed and max(cause.confidence for cause in others) < ENOUGH:
        yield from _wanted(subject, others)


def _unconfirmed(subject: Subject, others: list[Cause]) -> Iterator[str]:
    """What to say before causes of which none is confirmed."""
    if not subject.is_known and (others or subject.refuted):
        yield f"The root cause is {root_cause(subject)}."
    if others:
        yield "No root cause is confirmed. What follows is unconfirmed, the best first."
    elif subject.diagnosis is not None and not subject.alarms:
        yield "There is nothing to explain: the analyzers found nothing that needs attention."
    else:
        yield "No root cause is confirmed, and no hypothesis is open."


def _cause(subject: Subject, cause: Cause) -> Iterator[str]:
    pen = subject.pen
    label = "Confirmed" if cause.is_confirmed else "Unconfirmed"
    number = f" ({cause.label})" if cause.label else ""
    yield f"### {label}{number}: {pen.text(cause.statement, 160)}"
    facts = [
        f"**Confidence**: {cause.confidence:.2f} of at most {cause.ceiling:.2f} "
        f"(basis: {cause.basis})",
    ]
    if cause.status in _STATUS:
        facts.append(f"**Status**: {_STATUS[cause.status]}")
    if cause.source == CLAUDE:
        facts.append("**Source**: second opinion (Claude)")
    if cause.cause:
        facts.append(f"**Failure mode**: {pen.code(cause.cause)}")
    if cause.explains:
        facts.append(f"**Explains**: {', '.join(pen.code(one) for one in cause.explains)}")
    yield bullets(facts)
    if cause.evidence:
        yield "Evidence for:"
        yield bullets(evidence_line(pen, piece) for piece in cause.evidence[:_MOST_PIECES])
    else:
        yield "No evidence is recorded for it."
    if cause.against:
        yield "Evidence against:"
        yield bullets(evidence_line(pen, piece) for piece in cause.against[:_MOST_PIECES])


def _wanted(subject: Subject, causes: list[Cause]) -> Iterator[str]:
    """What would decide between causes of which none is sure enough."""
    asked = dict.fromkeys(one for cause in causes for one in cause.requests)
    asked.update(dict.fromkeys(texts(subject.diagnosis or {}, "requests")))
    yield f"**What would decide** (no cause reaches {ENOUGH:.2f} yet):"
    if asked:
        yield bullets(subject.pen.text(one) for one in list(asked)[:_MOST_REQUESTS])
    else:
        yield "nothing was asked for; plan an experiment that only one of the causes would pass."

"""The answer to the one question of a triage: the root cause, or that it is not known."""

from __future__ import annotations

from ...model.hypothesis import Hypothesis
from ..causes import Cause
from ..subject import Subject
from .wording import CLAUDE

_MOST_REFUTED = 2
_LONGEST = 120


def root_cause(subject: Subject) -> str:
    """One sentence; what is refuted or hardly believed is never stated as the cause."""
    best, pen = subject.best, subject.pen
    if best is not None and subject.is_known:
        state = ("confirmed" if best.is_confirmed else "unconfirmed") + _source(best)
        return f"{pen.text(best.statement)} ({state}; confidence {best.said})"
    if subject.refuted:
        gone = "; ".join(_refuted(subject, one) for one in subject.refuted[-_MOST_REFUTED:])
        rest = f"the best remaining is {_guess(subject, best)}" if best else "nothing else is open"
        return f"not known: {gone}; {rest}"
    return f"not known; best guess: {_guess(subject, best)}" if best else "none known"


def _guess(subject: Subject, cause: Cause) -> str:
    state = f"unconfirmed{_source(cause)}"
    said = f"{cause.confidence:.2f}, {state}; basis {cause.basis}, ceiling {cause.ceiling:.2f}"
    return f"{subject.pen.text(cause.statement)} ({said})"


def _source(cause: Cause) -> str:
    return ", proposed by Claude" if cause.source == CLAUDE else ""


def _refuted(subject: Subject, one: Hypothesis) -> str:
    tests = [test.id for test in subject.session.experiments_of(one.id)]
    by = next((ref.ref for ref in reversed(one.against) if ref.ref in tests), "")
    said = f"{one.id} ({subject.pen.headline(one.statement, _LONGEST)}) was refuted"
    return f"{said} by {by}" if by else said

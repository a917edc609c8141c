"""How sure a root cause may be after its citations were checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..answer.opinion import RootCauseOpinion
from .checked import CheckedCitation

UNSUPPORTED = 0.50
"""The most that a cause may have without a citation that holds."""


class Judged(NamedTuple):
    """What is left of a confidence, and why."""

    confidence: float
    notes: tuple[str, ...]


def judged(
    cause: RootCauseOpinion,
    evidence: Sequence[CheckedCitation],
    against: Sequence[CheckedCitation],
) -> Judged:
    """The confidence within the ceiling of its basis and what its citations bear."""
    value, notes = cause.confidence, []
    if value > cause.basis.ceiling:
        value = cause.basis.ceiling
        notes.append(f"{cause.basis.value} bears {value:.2f} at most")
    cited = (*evidence, *against)
    wrong = sum(one.is_struck for one in cited)
    held = sum(one.is_confirmed for one in cited)
    if wrong > held:
        value /= 2
        notes.append(f"{wrong} of {wrong + held} citations are wrong, so the confidence is halved")
    if not any(one.is_confirmed for one in evidence):
        value = min(value, UNSUPPORTED)
        why = "no citation is given" if not evidence else "no citation holds"
        notes.append(f"{why}, so it cannot exceed {UNSUPPORTED:.2f}")
    return Judged(value, tuple(notes))

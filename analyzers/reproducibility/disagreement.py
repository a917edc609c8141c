"""One place where two artifacts of a run say different things."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.finding import Evidence


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What disagrees, in a sentence with both values, and both places."""

    about: str
    """The setting's meaning, for example `lr`."""
    sentence: str
    evidence: tuple[Evidence, Evidence]
    raw: float = 0.9


def is_same(first: float, second: float) -> bool:
    """Equal as far as a few printed digits tell."""
    return abs(first - second) <= 1e-3 * max(abs(first), abs(second))

"""Finding again, in a newer verdict, what a user was looking at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Finding

Key = tuple[str, float | None, int]
"""Id, first step, and how many with both came before."""


def keyed(findings: Sequence[Finding]) -> list[tuple[Key, Finding]]:
    """Every finding with a key of its own."""
    counted: dict[tuple[str, float | None], int] = {}
    pairs: list[tuple[Key, Finding]] = []
    for finding in findings:
        same = (finding.id, finding.first_step)
        number = counted[same] = counted.get(same, -1) + 1
        pairs.append(((*same, number), finding))
    return pairs


def again(key: Key, pairs: Sequence[tuple[Key, Finding]], taken: Sequence[Key]) -> int | None:
    """Where a finding stands now: its key, or the nearest of its id that was not there before."""
    keys = [pair[0] for pair in pairs]
    if key in keys:
        return keys.index(key)
    rivals = [
        number for number, other in enumerate(keys) if other[0] == key[0] and other not in taken
    ]
    if not rivals:
        return None
    return min(rivals, key=lambda number: abs((keys[number][1] or 0.0) - (key[1] or 0.0)))


def vanished(
    before: Sequence[tuple[Key, Finding]], after: Sequence[tuple[Key, Finding]]
) -> list[Finding]:
    """Findings of the older verdict that the newer one has no more."""
    taken = [key for key, _ in before]
    return [finding for key, finding in before if again(key, after, taken) is None]

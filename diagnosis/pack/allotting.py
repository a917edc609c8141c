"""Who gets how much of a room that is too small for all."""

from __future__ import annotations

from collections.abc import Sequence


def by_share(needs: Sequence[int], shares: Sequence[float], total: int) -> list[int]:
    """Everybody up to their share; what is not needed goes to the others, the first one first."""
    whole = sum(shares) or 1.0
    given = [
        min(need, int(total * share / whole)) for need, share in zip(needs, shares, strict=True)
    ]
    return _with_rest(given, needs, total)


def in_turn(needs: Sequence[int], total: int) -> list[int]:
    """The first ones in full, but none more than half of what is left while others wait."""
    given: list[int] = []
    left = total
    for number, need in enumerate(needs):
        is_last = number == len(needs) - 1
        given.append(min(need, left if is_last else left // 2))
        left -= given[-1]
    return _with_rest(given, needs, total)


def _with_rest(given: list[int], needs: Sequence[int], total: int) -> list[int]:
    left = total - sum(given)
    for number, need in enumerate(needs):
        more = min(left, need - given[number])
        given[number] += more
        left -= more
    return given

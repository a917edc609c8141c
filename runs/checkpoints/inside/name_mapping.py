"""Which parameter of the model an optimizer means by its number.

A saved optimizer knows numbers and shapes, not names. Its numbers follow the order of the model's
parameters, so they are an order-preserving choice of them; where only one such choice fits the
shapes, the names are certain.
"""

from __future__ import annotations

from collections.abc import Sequence

Shape = tuple[int, ...] | None
"""None fits anything: a parameter without state."""
Named = tuple[str, tuple[int, ...]]


def names_of(groups: Sequence[Sequence[Shape]], parameters: Sequence[Named]) -> list[str] | None:
    """Names for the numbers of all groups in turn; None if more than one choice fits."""
    everything = [shape for group in groups for shape in group]
    whole = _only_choice(everything, parameters)
    if whole is not None or len(groups) < 2:
        return whole
    # Usual groups: matrices with weight decay, and vectors without.
    found: list[str] = []
    left = list(parameters)
    for group in groups:
        ranks = {len(shape) > 1 for shape in group if shape is not None}
        candidates = left
        if len(ranks) == 1:
            is_matrix = ranks.pop()
            candidates = [one for one in left if (len(one[1]) > 1) == is_matrix]
        names = _only_choice(group, candidates)
        if names is None:
            return None
        found += names
        taken = set(names)
        left = [one for one in left if one[0] not in taken]
    return found


def _only_choice(wanted: Sequence[Shape], offered: Sequence[Named]) -> list[str] | None:
    """The leftmost and the rightmost fit are the same exactly if there is only one."""
    if len(wanted) > len(offered):
        return None
    left = _leftmost(wanted, [shape for _, shape in offered])
    mirrored = _leftmost(wanted[::-1], [shape for _, shape in offered][::-1])
    if left is None or mirrored is None:
        return None
    right = [len(offered) - 1 - place for place in reversed(mirrored)]
    return [offered[place][0] for place in left] if left == right else None


def _leftmost(wanted: Sequence[Shape], offered: Sequence[tuple[int, ...]]) -> list[int] | None:
    places: list[int] = []
    place = 0
    for shape in wanted:
        while place < len(offered) and shape is not None and offered[place] != shape:
            place += 1
        if place >= len(offered):
            return None
        places.append(place)
        place += 1
    return places

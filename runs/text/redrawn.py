"""Bars that are drawn once more when they are complete, with what has come in since."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..harvest import ColumnKey, Ints
from .line_group import LineGroup


def outdated(
    groups: Sequence[LineGroup], lines_of: Callable[[Ints], Ints], pieces: int
) -> dict[ColumnKey, Ints]:
    """Per name, the pieces whose bar shows it and is drawn again, as far as it was, with it.

    When an evaluation has ended, or an epoch, the complete bar is drawn once more: what it
    shows then is what counts. What it no longer shows was its last word.
    """
    drawing = _drawings(groups, lines_of, pieces)
    if drawing is None:
        return {}
    shown: dict[ColumnKey, list[Ints]] = {}
    for group in groups:
        for part in group.parts if group.bar is not None else ():
            places = group.places if part.among is None else group.places[part.among]
            shown.setdefault(part.key, []).append(places)
    found: dict[ColumnKey, Ints] = {}
    for key, parts in shown.items():
        places = np.sort(np.concatenate(parts))
        is_again = drawing[places[1:]] == drawing[places[:-1]]
        if is_again.any():
            found[key] = places[:-1][is_again]
    return found


def _drawings(
    groups: Sequence[LineGroup], lines_of: Callable[[Ints], Ints], pieces: int
) -> Ints | None:
    """For pieces with bars a number that those have in common that are as far as another."""
    bars = [(group, *group.bar) for group in groups if group.bar is not None]
    if not bars:
        return None
    places = np.concatenate([group.places for group, _, _ in bars])
    order = np.argsort(places, kind="stable")
    places = places[order]
    drawn = np.concatenate([n for _, n, _ in bars])[order]
    total = np.concatenate([total for _, _, total in bars])[order]
    unknown = [np.full(len(group.places), np.nan) for group, _, _ in bars]
    epochs = [g.axes.get("epoch", none) for (g, _, _), none in zip(bars, unknown, strict=True)]
    epoch = np.concatenate(epochs)[order]
    lines = lines_of(places)
    is_same_bar = (drawn[1:] == drawn[:-1]) & (total[1:] == total[:-1])
    is_same_bar &= (lines[1:] == lines[:-1]) | (epoch[1:] == epoch[:-1])
    if not is_same_bar.any():
        return None
    numbers = np.zeros(pieces, dtype=np.int64)
    numbers[places] = np.concatenate([[0], np.cumsum(~is_same_bar)])
    return numbers

"""The values of one slot, by rank, by index word and, of a bar, by completeness."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..harvest import ColumnKey, Floats
from .line_group import Mask, Part
from .reading import Reading
from .template import Template

PROGRESS = " (progress)"
"""Behind the name of a value that a progress bar shows before it is complete."""
_LONE_NUMBER = re.compile(r"(?<![\w.@/-])\d+(?![\w.@/])")


def key_of(reading: Reading, number: int) -> ColumnKey:
    """What a slot of a line is kept under."""
    slot = reading.slots[number]
    return ColumnKey(slot.name, reading.rank, slot.unit, reading.split, reading.level)


def parts_of(
    template: Template, number: int, matrix: Floats, complete: Mask | None, certain: bool
) -> Iterator[Part]:
    """One slot's values: by rank, by index word, and for a bar by completeness."""
    reading, extras = template.reading, template.extras
    key = key_of(reading, number)
    values = matrix[:, number]
    ranks = matrix[:, extras["rank"]] if "rank" in extras else None
    index = extras.get(f"index {number}")
    for rank, position, mask in _subsets(ranks, None if index is None else matrix[:, index]):
        name = key.name
        if position is not None:
            name = _LONE_NUMBER.sub(str(_whole(position)), name, count=1)
        exact = ColumnKey(name, rank, key.unit, key.split, key.level)
        if complete is None:
            yield Part(exact, mask, values, certain)
            continue
        ended = complete if mask is None else complete & mask
        if ended.any():
            yield Part(exact, ended, values, certain)
        drawn = ColumnKey(name + PROGRESS, rank, key.unit, key.split, key.level)
        yield Part(drawn, mask, values, certain)


def _subsets(
    ranks: Floats | None, indices: Floats | None
) -> Iterator[tuple[int | None, float | None, Mask | None]]:
    """(rank, index, which lines) for every combination that occurs."""
    for rank, rank_mask in _distinct(ranks):
        for index, index_mask in _distinct(indices):
            if rank_mask is None or index_mask is None:
                mask = rank_mask if index_mask is None else index_mask
            else:
                mask = rank_mask & index_mask
                if not mask.any():
                    continue
            yield None if rank is None else _whole(rank), index, mask


def _whole(number: float) -> int:
    """A number out of a name; one of hundreds of digits is as good as none."""
    return int(number) if np.isfinite(number) else 0


def _distinct(values: Floats | None) -> list[tuple[float | None, Mask | None]]:
    if values is None:
        return [(None, None)]
    unique = np.unique(values)
    if len(unique) == 1:
        return [(float(unique[0]), None)]
    return [(float(value), values == value) for value in unique]

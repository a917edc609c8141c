"""The values of one slot, by rank, by index word and, of a bar, by completeness."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..harvest import ColumnKey, Floats, Ints
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
    ranks = ranks_of(template, matrix)
    index = extras.get(f"index {number}")
    for rank, position, among in _subsets(ranks, None if index is None else matrix[:, index]):
        name = key.name
        if position is not None:
            name = _LONE_NUMBER.sub(str(_whole(position)), name, count=1)
        exact = ColumnKey(name, rank, key.unit, key.split, key.level)
        part = Part(exact, among, values, certain)
        if complete is None:
            yield part
            continue
        ended = part.where(complete)
        if ended.among is not None and len(ended.among):
            yield ended
        yield part._replace(key=replace(exact, name=name + PROGRESS))


def ranks_of(template: Template, matrix: Floats) -> Floats | None:
    """The rank that each line names, if such lines do."""
    return matrix[:, template.extras["rank"]] if "rank" in template.extras else None


def by_rank(part: Part, ranks: Floats | None) -> Iterator[Part]:
    """A part of a group, divided by the ranks that each row of the group has."""
    if ranks is None:
        yield part
        return
    assert part.among is not None
    for rank, _, among in _subsets(ranks[part.among], None):
        rows = part.among if among is None else part.among[among]
        yield part._replace(key=replace(part.key, rank=rank), among=rows)


def _subsets(
    ranks: Floats | None, indices: Floats | None
) -> Iterator[tuple[int | None, float | None, Ints | None]]:
    """(rank, index, numbers of the lines) for every combination that occurs."""
    if ranks is None and indices is None:
        yield None, None, None
        return
    rank_numbers, rank_of = _numbered(ranks)
    index_numbers, index_of = _numbered(indices)
    groups = rank_of * len(index_numbers) + index_of
    order = np.argsort(groups, kind="stable")
    found, first = np.unique(groups[order], return_index=True)
    bounds = [*first.tolist(), len(order)]
    for group, start, end in zip(found.tolist(), bounds, bounds[1:], strict=False):
        rank, index = divmod(group, len(index_numbers))
        yield (
            None if ranks is None else _whole(rank_numbers[rank]),
            None if indices is None else index_numbers[index],
            None if len(found) == 1 else order[start:end],
        )


def _numbered(values: Floats | None) -> tuple[list[float], Ints]:
    """The distinct values, ascending, and for every value its place among them."""
    if values is None:
        return [0.0], np.zeros(1, dtype=np.int64)
    unique, places = np.unique(values, return_inverse=True)
    return unique.tolist(), places


def _whole(number: float) -> int:
    """A number out of a name; one of hundreds of digits is as good as none."""
    return int(number) if np.isfinite(number) else 0

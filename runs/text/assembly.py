"""Rows and columns of one chunk, put together from the groups of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..harvest import Column, ColumnKey, Floats, Harvest, Ints
from ..roles import Roles
from .chunk_view import ChunkView
from .reading import Reading
from .stamps import parse_stamps
from .tables import TableRecord
from .template import Template

_PROGRESS = " (progress)"
"""Behind the name of a value that a progress bar shows before it is complete."""
_LONE_NUMBER = re.compile(r"(?<![\w.@/-])\d+(?![\w.@/])")
Mask = npt.NDArray[np.bool_]


class _Part(NamedTuple):
    """Values of one series in some of the rows of a group; all rows if there is no mask."""

    key: ColumnKey
    mask: Mask | None
    values: Floats
    is_certain: bool


@dataclass(slots=True)
class _Group:
    """Lines that were read together."""

    places: Ints
    """Pieces of the chunk; negative for a record that began before it."""
    axes: dict[str, Floats] = field(default_factory=dict)
    parts: list[_Part] = field(default_factory=list)


class Assembly:
    """Collects groups in any order; `build` puts them into file order."""

    def __init__(self, roles: Roles, view: ChunkView) -> None:
        self._roles = roles
        self._view = view
        self._chunk = view.chunk
        self._groups: list[_Group] = []
        self._totals: dict[str, float] = {}

    # -- adding ---------------------------------------------------------------------------

    def add(self, template: Template, indices: Ints, matrix: Floats) -> None:
        """Lines that were read by a template; `indices` are pieces of the chunk."""
        reading = template.reading
        group = _Group(indices.astype(np.int64))
        group.axes = self._axes_of(template, matrix)
        complete: Mask | None = None
        if reading.bar is not None:
            drawn = matrix[:, template.extras["n"]]
            total = matrix[:, template.extras["total"]]
            if not reading.is_evaluation:
                group.axes.setdefault("inner", drawn)
                group.axes.setdefault("inner total", total)
            complete = drawn >= total
        if reading.stamp:
            digits = self._view.columns(indices, *reading.stamp_span)
            group.axes.setdefault("time", parse_stamps(reading.stamp, digits))
        is_measured = reading.is_measurement
        for number in range(len(reading.slots)):
            is_certain = self._is_certain(reading, number, is_measured)
            group.parts.extend(_parts_of(template, number, matrix, complete, is_certain))
        self._groups.append(group)

    def _axes_of(self, template: Template, matrix: Floats) -> dict[str, Floats]:
        """Coordinates; of two names for one axis the better one wins."""
        axes: dict[str, Floats] = {}
        precedence: dict[str, int] = {}
        first = len(template.reading.slots)
        for number, coordinate in enumerate(template.reading.coordinates):
            values = matrix[:, first + number]
            if coordinate.scale != 1:
                values = values * coordinate.scale
            axis = coordinate.axis
            if axis.startswith("total "):
                self._totals[axis.removeprefix("total ")] = float(values[-1])
                continue
            if axis in axes and coordinate.precedence >= precedence[axis]:
                continue
            axes[axis] = values
            precedence[axis] = coordinate.precedence
            total = template.extras.get(f"total {number}")
            if total is not None and axis == "inner":
                axes["inner total"] = matrix[:, total]
            elif total is not None:
                self._totals[axis] = float(matrix[-1, total])
        return axes

    def add_reading(self, reading: Reading, index: int) -> None:
        """One line whose tokens fit no template."""
        group = _Group(np.array([index], dtype=np.int64))
        for coordinate in sorted(reading.coordinates, key=lambda c: -c.precedence):
            if coordinate.axis.startswith("total "):
                self._totals[coordinate.axis.removeprefix("total ")] = coordinate.value
                continue
            group.axes[coordinate.axis] = np.array([coordinate.value])
            if coordinate.total is not None and coordinate.axis == "inner":
                group.axes["inner total"] = np.array([coordinate.total])
            elif coordinate.total is not None:
                self._totals[coordinate.axis] = coordinate.total
        if reading.stamp:
            digits = self._view.columns(group.places, *reading.stamp_span)
            group.axes["time"] = parse_stamps(reading.stamp, digits)
        is_measured = reading.is_measurement
        for number, slot in enumerate(reading.slots):
            certain = self._is_certain(reading, number, is_measured)
            group.parts.append(_Part(_key(reading, number), None, np.array([slot.value]), certain))
        self._groups.append(group)

    def add_record(self, record: TableRecord) -> None:
        """One table, read as one row at its first line."""
        piece = record.line
        if self._chunk.line is not None and record.line >= 0:
            piece = int(np.searchsorted(self._chunk.line, record.line))
        group = _Group(np.array([piece], dtype=np.int64))
        group.axes = {axis: np.array([value]) for axis, (_, value) in record.axes.items()}
        group.parts = [
            _Part(ColumnKey(name), None, np.array([value]), record.is_certain)
            for name, value in record.values.items()
        ]
        self._groups.append(group)

    def _is_certain(self, reading: Reading, number: int, is_measured: bool) -> bool:
        if reading.is_setting_like and not reading.is_anchored:
            return False
        if is_measured:
            return True
        slot = reading.slots[number]
        return slot.is_known and self._roles.is_outcome(slot.name)

    # -- building -------------------------------------------------------------------------

    def build(self, harvest: Harvest) -> None:
        """Fill in rows, axes and columns in file order."""
        harvest.totals.update(self._totals)
        if not self._groups:
            return
        places = np.concatenate([group.places for group in self._groups])
        order = np.argsort(places, kind="stable")
        row_of = np.empty(len(order), dtype=np.int64)
        row_of[order] = np.arange(len(order))
        harvest.line = self._lines(places[order]) + 1
        merged: dict[ColumnKey, list[tuple[Ints, Floats, bool]]] = {}
        start = 0
        for group in self._groups:
            rows = row_of[start : start + len(group.places)]
            start += len(group.places)
            for axis, values in group.axes.items():
                if axis not in harvest.axes:
                    harvest.axes[axis] = np.full(len(order), np.nan)
                harvest.axes[axis][rows] = values
            for key, mask, values, certain in group.parts:
                taken = (rows, values) if mask is None else (rows[mask], values[mask])
                merged.setdefault(key, []).append((*taken, certain))
        harvest.columns.extend(_joined(key, parts) for key, parts in merged.items())

    def _lines(self, places: Ints) -> Ints:
        """0-based lines of pieces; a record from before the chunk already has its line."""
        if self._chunk.line is None:
            return places
        lines: Ints = np.where(places >= 0, self._chunk.line[np.maximum(places, 0)], places)
        return lines


def _parts_of(
    template: Template, number: int, matrix: Floats, complete: Mask | None, certain: bool
) -> Iterator[_Part]:
    """One slot's values: by rank, by index word, and for a bar by completeness."""
    reading, extras = template.reading, template.extras
    key = _key(reading, number)
    values = matrix[:, number]
    ranks = matrix[:, extras["rank"]] if "rank" in extras else None
    index = extras.get(f"index {number}")
    for rank, position, mask in _subsets(ranks, None if index is None else matrix[:, index]):
        name = key.name
        if position is not None:
            name = _LONE_NUMBER.sub(str(_whole(position)), name, count=1)
        exact = ColumnKey(name, rank, key.unit, key.split, key.level)
        if complete is None:
            yield _Part(exact, mask, values, certain)
            continue
        ended = complete if mask is None else complete & mask
        if ended.any():
            yield _Part(exact, ended, values, certain)
        drawn = ColumnKey(name + _PROGRESS, rank, key.unit, key.split, key.level)
        yield _Part(drawn, mask, values, certain)


def _joined(key: ColumnKey, parts: list[tuple[Ints, Floats, bool]]) -> Column:
    if len(parts) == 1:
        # The columns of a group share their rows, also on their way to another process.
        return Column(key, *parts[0])
    rows = np.concatenate([part[0] for part in parts])
    in_order = np.argsort(rows, kind="stable")
    values = np.concatenate([part[1] for part in parts])[in_order]
    return Column(key, rows[in_order], values, any(part[2] for part in parts))


def _key(reading: Reading, number: int) -> ColumnKey:
    slot = reading.slots[number]
    return ColumnKey(slot.name, reading.rank, slot.unit, reading.split, reading.level)


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

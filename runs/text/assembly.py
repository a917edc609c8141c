"""Rows and columns of one chunk, put together from the groups of its lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..harvest import Column, ColumnKey, Floats, Harvest, Ints
from ..roles import Roles
from .cleaning import CleanChunk
from .reading import Reading
from .stamps import parse_stamps
from .tables import TableRecord
from .template import Template

_PROGRESS = " (progress)"


class Assembly:
    """Collects groups in any order; `build` puts them into file order."""

    def __init__(self, roles: Roles, chunk: CleanChunk) -> None:
        self._roles = roles
        self._chunk = chunk
        self._places: list[Ints] = []
        self._axes: list[dict[str, Floats]] = []
        self._columns: list[list[tuple[ColumnKey, npt.NDArray[np.bool_] | None, Floats, bool]]] = []
        self._totals: dict[str, float] = {}

    def add(
        self, template: Template, indices: Ints, lines: Sequence[bytes], matrix: Floats
    ) -> None:
        """Lines that were read by a template; `indices` are pieces of the chunk."""
        reading = template.reading
        slots = reading.slots
        extras = template.extras
        axes: dict[str, Floats] = {}
        precedence: dict[str, int] = {}
        for number, coordinate in enumerate(reading.coordinates):
            values = matrix[:, len(slots) + number]
            axis = coordinate.axis
            total = extras.get(f"total {number}")
            if axis.startswith("total "):
                self._totals[axis.removeprefix("total ")] = float(values[-1])
                continue
            if axis not in axes or coordinate.precedence < precedence[axis]:
                axes[axis] = values
                precedence[axis] = coordinate.precedence
                if total is not None and axis == "inner":
                    axes["inner total"] = matrix[:, total]
                elif total is not None:
                    self._totals[axis] = float(matrix[-1, total])
        complete: npt.NDArray[np.bool_] | None = None
        if reading.bar is not None:
            n, total_values = matrix[:, extras["n"]], matrix[:, extras["total"]]
            axes.setdefault("inner", n)
            axes.setdefault("inner total", total_values)
            complete = n >= total_values
        if reading.stamp:
            start, end = reading.stamp_span
            axes.setdefault("time", parse_stamps(reading.stamp, [x[start:end] for x in lines]))
        ranks = matrix[:, extras["rank"]] if "rank" in extras else None
        self._places.append(indices.astype(np.int64))
        self._axes.append(axes)
        columns: list[tuple[ColumnKey, npt.NDArray[np.bool_] | None, Floats, bool]] = []
        for number, slot in enumerate(slots):
            key = _key(reading, number)
            certain = self._is_certain(reading, number)
            index = extras.get(f"index {number}")
            subsets = _subsets(ranks, matrix[:, index] if index is not None else None)
            for rank, position, mask in subsets:
                name = key.name
                if index is not None and position is not None:
                    name = _with_index(name, position)
                exact = ColumnKey(name, rank, key.unit, key.split, key.level)
                if complete is None:
                    columns.append((exact, mask, matrix[:, number], certain))
                    continue
                ended = complete if mask is None else complete & mask
                if ended.any():
                    columns.append((exact, ended, matrix[:, number], certain))
                drawn = ColumnKey(name + _PROGRESS, rank, key.unit, key.split, key.level)
                columns.append((drawn, mask, matrix[:, number], certain))
        self._columns.append(columns)

    def add_reading(self, reading: Reading, index: int, piece: bytes) -> None:
        """One line whose tokens fit no template."""
        axes: dict[str, Floats] = {}
        for coordinate in sorted(reading.coordinates, key=lambda c: -c.precedence):
            axes[coordinate.axis] = np.array([coordinate.value])
            if coordinate.total is not None and coordinate.axis == "inner":
                axes["inner total"] = np.array([coordinate.total])
            elif coordinate.total is not None:
                self._totals[coordinate.axis] = coordinate.total
        if reading.stamp:
            start, end = reading.stamp_span
            axes["time"] = parse_stamps(reading.stamp, [piece[start:end]])
        self._places.append(np.array([index], dtype=np.int64))
        self._axes.append({a: v for a, v in axes.items() if not a.startswith("total ")})
        self._columns.append(
            [
                (_key(reading, number), None, np.array([slot.value]), self._is_certain(reading, number))
                for number, slot in enumerate(reading.slots)
            ]
        )

    def add_record(self, record: TableRecord) -> None:
        """One table, read as one row at its first line."""
        # Tables know lines, not pieces; a table never shares a line with a progress bar.
        piece = record.line
        if self._chunk.line is not None and record.line >= 0:
            piece = int(np.searchsorted(self._chunk.line, record.line))
        self._places.append(np.array([piece], dtype=np.int64))
        self._axes.append({axis: np.array([value]) for axis, (_, value) in record.axes.items()})
        self._columns.append(
            [
                (ColumnKey(name), None, np.array([value]), record.is_certain)
                for name, value in record.values.items()
            ]
        )

    def _is_certain(self, reading: Reading, number: int) -> bool:
        if reading.is_setting_like and not reading.is_anchored:
            return False
        if reading.is_measurement:
            return True
        return self._roles.is_outcome(reading.slots[number].name) and reading.slots[number].is_known

    def build(self, harvest: Harvest) -> None:
        """Fill in rows, axes and columns in file order."""
        harvest.totals.update(self._totals)
        if not self._places:
            return
        places = np.concatenate(self._places)
        order = np.argsort(places, kind="stable")
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        ordered = places[order]
        if self._chunk.line is not None:
            lines = np.where(ordered >= 0, self._chunk.line[np.maximum(ordered, 0)], ordered)
        else:
            lines = ordered
        harvest.line = lines + 1
        merged: dict[ColumnKey, list[tuple[Ints, Floats, bool]]] = {}
        start = 0
        for group, axes, columns in zip(self._places, self._axes, self._columns, strict=True):
            rows = position[start : start + len(group)]
            start += len(group)
            for axis, values in axes.items():
                if axis not in harvest.axes:
                    harvest.axes[axis] = np.full(len(order), np.nan)
                harvest.axes[axis][rows] = values
            for key, mask, values, certain in columns:
                taken = (rows, values) if mask is None else (rows[mask], values[mask])
                merged.setdefault(key, []).append((*taken, certain))
        for key, parts in merged.items():
            rows = np.concatenate([p[0] for p in parts])
            values = np.concatenate([p[1] for p in parts])
            if len(parts) > 1:
                in_order = np.argsort(rows, kind="stable")
                rows, values = rows[in_order], values[in_order]
            harvest.columns.append(Column(key, rows, values, any(p[2] for p in parts)))


def _key(reading: Reading, number: int) -> ColumnKey:
    slot = reading.slots[number]
    return ColumnKey(slot.name, reading.rank, slot.unit, reading.split, reading.level)


def _with_index(name: str, index: float) -> str:
    import re

    return re.sub(r"(?<![\w.@/])\d+(?![\w.@/])", str(int(index)), name, count=1)


def _subsets(
    ranks: Floats | None, indices: Floats | None
) -> list[tuple[int | None, float | None, npt.NDArray[np.bool_] | None]]:
    """(rank, index, which lines) for every combination that occurs."""
    found: list[tuple[int | None, float | None, npt.NDArray[np.bool_] | None]] = []
    for rank, rank_mask in _distinct(ranks):
        for index, index_mask in _distinct(indices):
            if rank_mask is None or index_mask is None:
                mask = rank_mask if index_mask is None else index_mask
            else:
                mask = rank_mask & index_mask
                if not mask.any():
                    continue
            found.append((None if rank is None else int(rank), index, mask))
    return found


def _distinct(values: Floats | None) -> list[tuple[float | None, npt.NDArray[np.bool_] | None]]:
    if values is None:
        return [(None, None)]
    unique = np.unique(values)
    if len(unique) == 1:
        return [(float(unique[0]), None)]
    return [(float(value), values == value) for value in unique]

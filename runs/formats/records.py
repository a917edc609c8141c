"""Builds a harvest record by record: fields in, rows, axes and columns out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..event import Event, EventKind
from ..harvest import AXES, Column, ColumnKey, Floats, Harvest, Ints
from .axis_names import axis_sources, coordinate


@lru_cache(maxsize=1024)
def _sources(names: tuple[str, ...]) -> dict[str, list[int]]:
    return axis_sources(names)


class RecordCollector:
    """Collects records of one stretch of a file."""

    def __init__(self) -> None:
        self._lines: list[int] = []
        self._axes: dict[str, tuple[list[int], list[float]]] = {axis: ([], []) for axis in AXES}
        self._columns: dict[ColumnKey, tuple[list[int], list[float]]] = {}
        self.events: list[Event] = []
        self.config: dict[str, object] = {}
        self.totals: dict[str, float] = {}

    def add(
        self,
        line: int,
        values: Iterable[tuple[ColumnKey, float]],
        axes: Mapping[str, float],
    ) -> None:
        """One row whose coordinates are known."""
        row = len(self._lines)
        self._lines.append(line)
        for axis, value in axes.items():
            if value == value:
                rows, coordinates = self._axes[axis]
                rows.append(row)
                coordinates.append(value)
        for key, value in values:
            column = self._columns.get(key)
            if column is None:
                column = self._columns[key] = ([], [])
            column[0].append(row)
            column[1].append(value)

    def add_fields(self, line: int, fields: Mapping[str, float], *, split: str = "") -> None:
        """One row whose coordinates are among its own fields; a record of nothing is no row."""
        if not fields:
            return
        names = tuple(fields)
        axes: dict[str, float] = {}
        moments: set[str] = set()
        for axis, positions in _sources(names).items():
            for position in positions:
                value = coordinate(axis, fields[names[position]])
                if value == value:
                    axes.setdefault(axis, value)
                    if axis == "time":
                        moments.add(names[position])
        values = (
            (ColumnKey(name, split=split), value)
            for name, value in fields.items()
            if name not in moments
        )
        self.add(line, values, axes)

    def warn(self, title: str, line: int, offset: int = -1) -> None:
        """Note something wrong with the file itself."""
        self.events.append(Event(EventKind.WARNING, title, line, offset, text=title))

    def harvest(self, *, lines: int, consumed: int) -> Harvest:
        """Everything collected, as arrays."""
        size = len(self._lines)
        axes = {}
        for axis, (rows, coordinates) in self._axes.items():
            if rows:
                axes[axis] = np.full(size, math.nan)
                axes[axis][rows] = coordinates
        columns = [
            Column(key, np.array(rows, dtype=np.int64), np.array(values, dtype=np.float64))
            for key, (rows, values) in self._columns.items()
        ]
        return Harvest(
            line=np.array(self._lines, dtype=np.int64),
            axes=axes,
            columns=columns,
            events=self.events,
            config=self.config,
            totals=self.totals,
            lines=lines,
            consumed=consumed,
        )


def join_harvests(parts: Sequence[Harvest]) -> Harvest:
    """One harvest of consecutive ones; line numbers stay as they are."""
    if len(parts) == 1:
        return parts[0]
    whole = Harvest()
    firsts = np.cumsum([0, *(len(part.line) for part in parts)])
    size = int(firsts[-1])
    columns: dict[ColumnKey, list[tuple[Ints, Floats]]] = {}
    for first, part in zip(firsts.tolist(), parts, strict=False):
        for axis, coordinates in part.axes.items():
            if axis not in whole.axes:
                whole.axes[axis] = np.full(size, math.nan)
            whole.axes[axis][first : first + len(coordinates)] = coordinates
        for column in part.columns:
            columns.setdefault(column.key, []).append((column.rows + first, column.values))
        whole.events.extend(part.events)
        whole.config = {**whole.config, **part.config}
        whole.totals.update(part.totals)
        whole.lines += part.lines
        whole.consumed += part.consumed
    if parts:
        whole.line = np.concatenate([part.line for part in parts])
    for key, pieces in columns.items():
        rows, values = zip(*pieces, strict=True)
        whole.columns.append(Column(key, np.concatenate(rows), np.concatenate(values)))
    return whole


def flatten(
    record: Mapping[str, object], *, separator: str = "/", depth: int = 2
) -> dict[str, float]:
    """Numeric fields of a record, nested ones under joined names; everything else left out."""
    fields: dict[str, float] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            if depth > 1 and "_type" not in value:
                inner = flatten(value, separator=separator, depth=depth - 1)
                fields.update({f"{name}{separator}{key}": v for key, v in inner.items()})
        elif (number := as_number(value)) is not None:
            fields[name] = number
    return fields


_WORDS = {
    "nan": math.nan, "-nan": math.nan, "inf": math.inf, "infinity": math.inf, "+inf": math.inf,
    "-inf": -math.inf, "-infinity": -math.inf,
}  # fmt: skip


def as_number(value: object) -> float | None:
    """A JSON value as a number: also the words that stand for NaN and infinity."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return _WORDS.get(value.lower()) if isinstance(value, str) and len(value) < 10 else None

"""Rows of a table as text: their cells, their numbers, and which row is the header."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field

import numpy as np

from ..harvest import Column, ColumnKey, Floats, Harvest, Ints
from ..roles import shipped
from .axis_names import EARLIEST_UNIX_TIME, axis_sources, parse_moment, unix_seconds
from .tabular_fast import Missing

DELIMITERS = (",", "\t", ";", "|")
MOST_COLUMNS = 20_000
"""More cells in a row are data, not names."""
SPLIT_COLUMNS = {"split", "phase", "mode", "stage", "set", "subset", "partition"}


def split_cells(line: str, delimiter: str) -> list[str]:
    """The cells of one row, unquoted and without padding."""
    if '"' in line:
        try:
            rows = csv.reader([line], delimiter=delimiter, skipinitialspace=True)
            return [cell.strip() for row in rows for cell in row]
        except csv.Error:
            pass  # a cell past the module's size limit
    return [cell.strip() for cell in line.split(delimiter)]


def read_number(cell: str, delimiter: str = ",") -> float | None:
    """A cell as a number, NaN and infinities included; nothing if it is not one."""
    if delimiter == ";" and "," in cell:
        cell = cell.replace(",", ".")
    try:
        value = float(cell)
    except ValueError:
        return None
    # Python alone also reads "1_000" and digits of other scripts.
    return None if "_" in cell or not cell.isascii() else value


def is_skipped(line: str) -> bool:
    """True for blank lines and comments, wherever they stand."""
    bare = line.strip()
    return not bare or bare.startswith("#")


def find_delimiter(line: str) -> str | None:
    """The character that separates the cells of a header, if one does."""
    best = max(DELIMITERS, key=line.count)
    return best if best in line else None


def is_header(cells: list[str]) -> bool:
    """True if a row consists of names."""
    named = [cell for cell in cells if cell]
    if not 2 <= len(cells) <= MOST_COLUMNS or not named or any(len(cell) > 200 for cell in named):
        return False
    # One empty name is the index that pandas writes.
    return len(named) >= len(cells) - 1 and all(
        read_number(cell) is None and any(c.isalpha() for c in cell) for cell in named
    )


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table: their names, and which of them are coordinates."""

    delimiter: str
    names: tuple[str, ...]
    sources: dict[str, list[int]]
    split_column: int | None

    @classmethod
    def of(cls, cells: list[str], delimiter: str) -> Header:
        """Read a header row; a name given twice gets a number."""
        names: list[str] = []
        taken: set[str] = set()
        copies: dict[str, int] = {}
        for cell in cells:
            name = cell
            while name and name in taken:
                copies[cell] = copies.get(cell, 0) + 1
                name = f"{cell}.{copies[cell]}"
            names.append(name)
            taken.add(name)
        split = next((i for i, n in enumerate(names) if n.lower() in SPLIT_COLUMNS), None)
        return cls(delimiter, tuple(names), axis_sources(names), split)


@dataclass(slots=True)
class Rows:
    """Rows read one by one under the same header."""

    header: Header
    line: list[int] = field(default_factory=list)
    values: list[list[float | None]] = field(default_factory=list)
    nan_cells: list[tuple[int, int]] = field(default_factory=list)
    moments: dict[int, float] = field(default_factory=dict)
    """Row to the time that a text cell of it tells."""
    splits: list[str] = field(default_factory=list)

    def add(self, line: int, cells: list[str]) -> None:
        """Take the numbers of a row; a row without any is no row."""
        header = self.header
        width = len(header.names)
        values = [read_number(cell, header.delimiter) for cell in cells[:width]]
        if values.count(None) == len(values):
            return
        row = len(self.line)
        self.nan_cells.extend((row, i) for i, v in enumerate(values) if v is not None and v != v)
        for position in header.sources.get("time", ()):
            if position < len(values) and values[position] is None:
                moment = parse_moment(cells[position])
                if moment == moment:
                    self.moments.setdefault(row, moment)
        values.extend([None] * (width - len(values)))
        self.line.append(line)
        self.values.append(values)
        if header.split_column is not None:
            split = cells[header.split_column] if header.split_column < len(cells) else ""
            self.splits.append(shipped().split_of(split))

    def harvest(self) -> Harvest:
        """The rows as arrays."""
        values = np.array(self.values, dtype=np.float64).reshape(-1, len(self.header.names))
        missing = np.isnan(values)
        for row, position in self.nan_cells:
            missing[row, position] = False
        line = np.array(self.line, dtype=np.int64)
        found = harvest_table(self.header, line, values, missing, self.splits)
        if self.moments:
            times = found.axes.setdefault("time", np.full(len(line), math.nan))
            for row, moment in self.moments.items():
                if np.isnan(times[row]):
                    times[row] = moment
        return found


def harvest_table(
    header: Header, line: Ints, values: Floats, missing: Missing | None, splits: list[str]
) -> Harvest:
    """The cells of a table (rows by columns) as axes and columns."""
    present = np.ones(values.shape, dtype=np.bool_) if missing is None else ~missing
    axes: dict[str, Floats] = {}
    for axis, positions in header.sources.items():
        found = np.full(len(values), math.nan)
        for position in reversed(positions):
            coordinates = _coordinates(axis, values[:, position])
            known = ~np.isnan(coordinates)
            found[known] = coordinates[known]
            if axis == "time":
                present[known, position] = False
        if not np.isnan(found).all():
            axes[axis] = found
    columns = []
    row_splits = np.array(splits) if any(splits) else None
    # Full columns share one array of rows, also on their way to another process.
    all_rows: Ints = np.arange(len(values), dtype=np.int64)
    for position, name in enumerate(header.names):
        is_full = bool(present[:, position].all())
        rows: Ints = all_rows if is_full else np.flatnonzero(present[:, position])
        if not name or not len(rows):
            continue
        if is_full and row_splits is None:
            full = np.ascontiguousarray(values[:, position])
            columns.append(Column(ColumnKey(name), rows, full))
            continue
        for split in ("",) if row_splits is None else dict.fromkeys(row_splits[rows].tolist()):
            kept = rows if row_splits is None else rows[row_splits[rows] == split]
            columns.append(Column(ColumnKey(name, split=split), kept, values[kept, position]))
    return Harvest(line, axes, columns)


def _coordinates(axis: str, values: Floats) -> Floats:
    if axis != "time":
        return np.where((values >= 0) & (values < math.inf), values, math.nan)
    if not (values >= EARLIEST_UNIX_TIME).any():
        return np.full(len(values), math.nan)
    return np.array([unix_seconds(value) for value in values.tolist()])

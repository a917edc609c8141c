"""Rows and columns of one chunk, put together from the groups of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..harvest import Column, ColumnKey, Floats, Harvest, Ints
from ..roles import Roles
from .chunk_view import ChunkView
from .epoch_ends import EpochEnds, Loop
from .reading import Reading
from .stamps import parse_stamps
from .tables import TableRecord
from .template import Template

_PROGRESS = " (progress)"
"""Behind the name of a value that a progress bar shows before it is complete."""
_LONE_NUMBER = re.compile(r"(?<![\w.@/-])\d+(?![\w.@/])")
_PLACES = frozenset({"step", "epoch", "inner"})
_MOST_LOGGERS = 4
"""Templates with the same names that are compared: lines read one by one have thousands."""
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
    bar: tuple[Floats, Floats] | None = None
    """How far the bar of the training was drawn, and its total."""
    template: Template | None = None
    """What its lines were read by."""


class Told(NamedTuple):
    """A group and the numbers of its lines, from 1 on."""

    group: _Group
    lines: Ints

    @property
    def names(self) -> frozenset[ColumnKey]:
        """What it measures."""
        return frozenset(part.key for part in self.group.parts)

    def last_line(self) -> Told:
        """The last line alone, as seen from the next chunk."""
        group = _Group(self.group.places[-1:], template=self.group.template)
        group.axes = {axis: values[-1:] for axis, values in self.group.axes.items()}
        group.parts = [
            _Part(part.key, None, part.values[-1:], part.is_certain) for part in self.group.parts
        ]
        return Told(group, np.zeros(1, dtype=np.int64))


class Assembly:
    """Collects groups in any order; `build` puts them into file order."""

    def __init__(
        self,
        roles: Roles,
        view: ChunkView,
        last: Told | None = None,
        epoch_ends: EpochEnds | None = None,
    ) -> None:
        self._roles = roles
        self._view = view
        self._chunk = view.chunk
        self._groups: list[_Group] = []
        self._totals: dict[str, float] = {}
        self._epoch_ends = epoch_ends or EpochEnds()
        self.last = last
        """What the last line said; before `build`, that of the chunk before."""

    # -- adding ---------------------------------------------------------------------------

    def add(self, template: Template, indices: Ints, matrix: Floats) -> None:
        """Lines that were read by a template; `indices` are pieces of the chunk."""
        reading = template.reading
        group = _Group(indices.astype(np.int64), template=template)
        group.axes = self._axes_of(template, matrix)
        complete: Mask | None = None
        if reading.bar is not None:
            drawn = matrix[:, template.extras["n"]]
            total = matrix[:, template.extras["total"]]
            if not reading.is_evaluation:
                group.axes.setdefault("inner", drawn)
                group.axes.setdefault("inner total", total)
                group.bar = drawn, total
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
            if coordinate.scale != 1.0:
                values = np.rint(values * coordinate.scale)
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

    def add_reading(self, reading: Reading, index: int, text: str) -> None:
        """One line, with its text, whose tokens fit no template."""
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
        is_complete = True
        if reading.bar is not None:
            drawn, total = (np.array([float(text[slice(*span)])]) for span in reading.bar)
            is_complete = bool(drawn[0] >= total[0])
            if not reading.is_evaluation:
                group.axes.setdefault("inner", drawn)
                group.axes.setdefault("inner total", total)
                group.bar = drawn, total
        is_measured = reading.is_measurement
        for number, slot in enumerate(reading.slots):
            certain = self._is_certain(reading, number, is_measured)
            key, values = _key(reading, number), np.array([slot.value])
            if is_complete:
                group.parts.append(_Part(key, None, values, certain))
            if reading.bar is not None:
                shown = replace(key, name=key.name + _PROGRESS)
                group.parts.append(_Part(shown, None, values, certain))
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
            self.last = None
            return
        places = np.concatenate([group.places for group in self._groups])
        order = np.argsort(places, kind="stable")
        row_of = np.empty(len(order), dtype=np.int64)
        row_of[order] = np.arange(len(order))
        harvest.line = self._lines(places[order]) + 1
        self._forget_echoes(harvest.line, row_of, harvest.lines)
        self._move_evaluations()
        merged: dict[ColumnKey, list[tuple[Ints, Floats, bool]]] = {}
        outdated = self._outdated()
        start = 0
        for group in self._groups:
            rows = row_of[start : start + len(group.places)]
            start += len(group.places)
            for axis, values in group.axes.items():
                if axis not in harvest.axes:
                    harvest.axes[axis] = np.full(len(order), np.nan)
                harvest.axes[axis][rows] = values
            for key, among, values, certain in group.parts:
                mask = among
                if group.bar is not None and key in outdated:
                    fresh = ~np.isin(group.places, outdated[key])
                    mask = fresh if among is None else among & fresh
                taken = (rows, values) if mask is None else (rows[mask], values[mask])
                merged.setdefault(key, []).append((*taken, certain))
        joined = (_joined(key, parts) for key, parts in merged.items())
        harvest.columns.extend(column for column in joined if len(column.rows))

    def _outdated(self) -> dict[ColumnKey, Ints]:
        """Per name, the pieces whose bar shows it and is drawn again, as far as it was, with it.

        When an evaluation has ended, or an epoch, the complete bar is drawn once more: what it
        shows then is what counts. What it no longer shows was its last word.
        """
        drawing = self._drawings()
        if drawing is None:
            return {}
        shown: dict[ColumnKey, list[Ints]] = {}
        for group in self._groups:
            for part in group.parts if group.bar is not None else ():
                places = group.places if part.mask is None else group.places[part.mask]
                shown.setdefault(part.key, []).append(places)
        found: dict[ColumnKey, Ints] = {}
        for key, parts in shown.items():
            places = np.sort(np.concatenate(parts))
            is_again = drawing[places[1:]] == drawing[places[:-1]]
            if is_again.any():
                found[key] = places[:-1][is_again]
        return found

    def _drawings(self) -> Ints | None:
        """For pieces with bars a number that those have in common that are as far as another."""
        bars = [(group, *group.bar) for group in self._groups if group.bar is not None]
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
        lines = self._lines(places)
        is_same_bar = (drawn[1:] == drawn[:-1]) & (total[1:] == total[:-1])
        is_same_bar &= (lines[1:] == lines[:-1]) | (epoch[1:] == epoch[:-1])
        if not is_same_bar.any():
            return None
        numbers = np.zeros(len(self._chunk.pieces), dtype=np.int64)
        numbers[places] = np.concatenate([[0], np.cumsum(~is_same_bar)])
        return numbers

    def _forget_echoes(self, lines: Ints, row_of: Ints, count: int) -> None:
        """Drop what a second logger says right after the first, in the same words.

        Such lines have other prefixes, so they were read by another template with the same
        names. `count` lines were read: what the last of them said may be repeated by the next.
        """
        seen: dict[frozenset[ColumnKey], list[Told]] = {}
        if self.last is not None:
            seen[self.last.names] = [self.last]
        self.last = None
        start = 0
        for group in self._groups:
            rows = row_of[start : start + len(group.places)]
            start += len(group.places)
            is_masked = any(part.mask is not None for part in group.parts)
            if group.template is None or is_masked or _PLACES.isdisjoint(group.axes):
                continue
            told = Told(group, lines[rows])
            others = seen.setdefault(told.names, [])
            for other in others:
                if other.group.template is not group.template:
                    _forget_echo(told, other)
                    _forget_echo(other, told)
            if len(others) < _MOST_LOGGERS:
                others.append(told)
            if told.lines[-1] == count:
                self.last = told.last_line()

    def _move_evaluations(self) -> None:
        """Give loops that are run behind the end of an epoch a split of their own."""
        announced: list[Ints] = []
        loops: dict[int, Loop] = {}
        for number, group in enumerate(self._groups):
            if not group.parts and "epoch" in group.axes and "inner" not in group.axes:
                announced.append(group.places)
            elif group.parts and "inner total" in group.axes and "epoch" not in group.axes:
                keys = [part.key for part in group.parts]
                splits = {key.split or self._roles.split_of(key.name) for key in keys}
                if splits != {"val"} and splits != {"test"}:
                    loops[number] = Loop(
                        group.places,
                        self._lines(group.places),
                        group.axes["inner"],
                        group.axes["inner total"],
                        not splits.isdisjoint(("val", "test")),
                    )
        places = np.sort(np.concatenate(announced)) if announced else np.empty(0, dtype=np.int64)
        found, is_validated = self._epoch_ends.evaluations(places, list(loops.values()))
        for number in loops if len(found) else ():
            _move(self._groups[number], found, "test" if is_validated else "val")

    def _lines(self, places: Ints) -> Ints:
        """0-based lines of pieces; a record from before the chunk already has its line."""
        if self._chunk.line is None:
            return places
        lines: Ints = np.where(places >= 0, self._chunk.line[np.maximum(places, 0)], places)
        return lines


def _move(group: _Group, places: Ints, split: str) -> None:
    """Put the values at some places under a split."""
    is_moved = np.isin(group.places, places)
    if not is_moved.any():
        return
    group.axes["inner"] = np.where(is_moved, np.nan, group.axes["inner"])
    parts = group.parts
    group.parts = []
    for part in parts:
        among = np.ones(len(is_moved), dtype=bool) if part.mask is None else part.mask
        if (among & ~is_moved).any():
            group.parts.append(part._replace(mask=among & ~is_moved))
        if (among & is_moved).any():
            key = replace(part.key, split=split)
            group.parts.append(part._replace(key=key, mask=among & is_moved))


def _forget_echo(later: Told, earlier: Told) -> None:
    """Drop the values of lines that repeat the line of the other template before them."""
    group, told = later.group, earlier.group
    at = np.minimum(np.searchsorted(earlier.lines, later.lines - 1), len(earlier.lines) - 1)
    echoes = earlier.lines[at] == later.lines - 1
    if not echoes.any() or _PLACES & group.axes.keys() != _PLACES & told.axes.keys():
        return
    values = {part.key: part.values for part in told.parts}
    for part in group.parts:
        echoes &= part.values == values[part.key][at]
    for axis in _PLACES & group.axes.keys():
        echoes &= group.axes[axis] == told.axes[axis][at]
    if echoes.any():
        group.parts = [
            part._replace(mask=~echoes if part.mask is None else part.mask & ~echoes)
            for part in group.parts
        ]


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

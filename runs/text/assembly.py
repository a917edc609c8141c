"""Rows and columns of one chunk, put together from the groups of its lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..harvest import Column, ColumnKey, Floats, Harvest, Ints
from ..limits import MOST_RANKS, LeftOut
from ..roles import Roles
from .chunk_view import ChunkView
from .echoes import forget_echoes
from .epoch_ends import EpochEnds, Loop
from .line_group import LineGroup, Mask, Part, Told
from .reading import Reading
from .redrawn import outdated
from .slot_values import PROGRESS, by_rank, key_of, parts_of, ranks_of
from .stamps import parse_stamps
from .tables import TableRecord
from .template import Template


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
        self._groups: list[LineGroup] = []
        self._totals: dict[str, float] = {}
        self._left_out: dict[str, int] = {}
        self._epoch_ends = epoch_ends or EpochEnds()
        self.last = last
        """What the last line said; before `build`, that of the chunk before."""

    # -- adding ---------------------------------------------------------------------------

    def add(self, template: Template, indices: Ints, matrix: Floats) -> None:
        """Lines that were read by a template; `indices` are pieces of the chunk."""
        indices, matrix = self._of_kept_ranks(template, indices, matrix)
        if not len(indices):
            return
        reading = template.reading
        group = LineGroup(indices.astype(np.int64), template=template)
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
        self._add_stamps(group, reading)
        is_measured = reading.is_measurement
        for number in range(len(reading.slots)):
            is_certain = self._is_certain(reading, number, is_measured)
            group.parts.extend(parts_of(template, number, matrix, complete, is_certain))
        self._groups.append(group)

    def add_variety(
        self,
        template: Template,
        indices: Ints,
        matrix: Floats,
        names: Iterable[tuple[Sequence[str], Ints]],
    ) -> None:
        """Lines with names of their own; for each set of names, the rows of the matrix."""
        reading = template.reading
        group = LineGroup(indices.astype(np.int64), template=template)
        group.axes = self._axes_of(template, matrix)
        self._add_stamps(group, reading)
        is_measured = reading.is_measurement
        ranks = ranks_of(template, matrix)
        for spelled, rows in names:
            for number, name in enumerate(spelled):
                certain = self._is_certain(reading, number, is_measured)
                key, values = replace(key_of(reading, number), name=name), matrix[:, number]
                group.parts += by_rank(Part(key, rows, values, certain), ranks)
        self._groups.append(group)

    def _of_kept_ranks(
        self, template: Template, indices: Ints, matrix: Floats
    ) -> tuple[Ints, Floats]:
        """The lines without those of ranks beyond the limit, which are counted."""
        ranks = ranks_of(template, matrix)
        if ranks is None or not len(ranks) or ranks.max() < MOST_RANKS:
            return indices, matrix
        kept = ranks < MOST_RANKS
        count = len(kept) - int(np.count_nonzero(kept))
        self._left_out[LeftOut.RANKS] = self._left_out.get(LeftOut.RANKS, 0) + count
        return indices[kept], matrix[kept]

    def _add_stamps(self, group: LineGroup, reading: Reading) -> None:
        if reading.stamp:
            digits = self._view.columns(group.places, *reading.stamp_span)
            group.axes.setdefault("time", parse_stamps(reading.stamp, digits))

    def _axes_of(self, template: Template, matrix: Floats) -> dict[str, Floats]:
        """Coordinates; of two names for one axis the better one wins."""
        axes: dict[str, Floats] = {}
        precedence: dict[str, int] = {}
        totals: dict[str, tuple[Floats, float]] = {}
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
                totals[axis] = values, float(matrix[-1, total])
        for axis, (values, planned) in totals.items():
            # `STEP: 3/80 -- GLOBAL_STEP: 163`: the total is of what another name counts.
            if values is axes[axis] or np.array_equal(values, axes[axis]):
                self._totals[axis] = planned
        return axes

    def add_reading(self, reading: Reading, index: int, text: str) -> None:
        """One line, with its text, whose tokens fit no template."""
        group = LineGroup(np.array([index], dtype=np.int64))
        best = {c.axis: c.value for c in sorted(reading.coordinates, key=lambda c: -c.precedence)}
        for coordinate in sorted(reading.coordinates, key=lambda c: -c.precedence):
            if coordinate.axis.startswith("total "):
                self._totals[coordinate.axis.removeprefix("total ")] = coordinate.value
                continue
            group.axes[coordinate.axis] = np.array([coordinate.value])
            if coordinate.total is not None and coordinate.axis == "inner":
                group.axes["inner total"] = np.array([coordinate.total])
            elif coordinate.total is not None and coordinate.value == best[coordinate.axis]:
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
            key, values = key_of(reading, number), np.array([slot.value])
            if is_complete:
                group.parts.append(Part(key, None, values, certain))
            if reading.bar is not None:
                shown = replace(key, name=key.name + PROGRESS)
                group.parts.append(Part(shown, None, values, certain))
        self._groups.append(group)

    def add_record(self, record: TableRecord) -> None:
        """One table, read as one row at its first line."""
        piece = record.line
        if self._chunk.line is not None and record.line >= 0:
            piece = int(np.searchsorted(self._chunk.line, record.line))
        group = LineGroup(np.array([piece], dtype=np.int64))
        group.axes = {axis: np.array([value]) for axis, (_, value) in record.axes.items()}
        group.parts = [
            Part(
                ColumnKey(name, split=self._split_in(record, name)),
                None,
                np.array([value]),
                record.is_certain,
            )
            for name, value in record.values.items()
        ]
        self._groups.append(group)

    def _split_in(self, record: TableRecord, name: str) -> str:
        """The split of a table is that of its scores; what is minimised says so itself."""
        return "" if self._roles.role_of(name) == "train/loss" else record.split

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
        harvest.left_out.update(self._left_out)
        if not self._groups:
            self.last = None
            return
        places = np.concatenate([group.places for group in self._groups])
        order = np.argsort(places, kind="stable")
        row_of = np.empty(len(order), dtype=np.int64)
        row_of[order] = np.arange(len(order))
        harvest.line = self._lines(places[order]) + 1
        self.last = forget_echoes(self._groups, harvest.line, row_of, harvest.lines, self.last)
        self._move_evaluations()
        merged: dict[ColumnKey, list[tuple[Ints, Floats, bool]]] = {}
        redrawn = outdated(self._groups, self._lines, len(self._chunk.pieces))
        start = 0
        for group in self._groups:
            rows = row_of[start : start + len(group.places)]
            start += len(group.places)
            for axis, values in group.axes.items():
                if axis not in harvest.axes:
                    harvest.axes[axis] = np.full(len(order), np.nan)
                harvest.axes[axis][rows] = values
            for key, among, values, certain in group.parts:
                chosen = among
                if group.bar is not None and key in redrawn:
                    chosen = np.arange(len(rows)) if among is None else among
                    chosen = chosen[~np.isin(group.places[chosen], redrawn[key])]
                taken = (rows, values) if chosen is None else (rows[chosen], values[chosen])
                merged.setdefault(key, []).append((*taken, certain))
        joined = (_joined(key, parts) for key, parts in merged.items())
        harvest.columns.extend(column for column in joined if len(column.rows))

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


def _move(group: LineGroup, places: Ints, split: str) -> None:
    """Put the values at some places under a split."""
    is_moved = np.isin(group.places, places)
    if not is_moved.any():
        return
    group.axes["inner"] = np.where(is_moved, np.nan, group.axes["inner"])
    parts = group.parts
    group.parts = []
    for part in parts:
        stays, moves = part.where(~is_moved), part.where(is_moved)
        if stays.among is not None and len(stays.among):
            group.parts.append(stays)
        if moves.among is not None and len(moves.among):
            group.parts.append(moves._replace(key=replace(part.key, split=split)))


def _joined(key: ColumnKey, parts: list[tuple[Ints, Floats, bool]]) -> Column:
    if len(parts) == 1:
        # The columns of a group share their rows, also on their way to another process.
        return Column(key, *parts[0])
    rows = np.concatenate([part[0] for part in parts])
    in_order = np.argsort(rows, kind="stable")
    values = np.concatenate([part[1] for part in parts])[in_order]
    return Column(key, rows[in_order], values, any(part[2] for part in parts))

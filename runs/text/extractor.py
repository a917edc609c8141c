"""The general extractor: bytes of any text log to rows, columns and events.

Lines are grouped by *skeleton*: the line without digits, signs, dots, white space and the
letter e. Lines of one skeleton were printed by one format string, so one careful look at
the first of them tells how to read all the others at C speed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import overload

import numpy as np
import numpy.typing as npt

from ..config import config_from_lines
from ..event import Event
from ..events.collect import collect
from ..events.rule import FAILURES
from ..harvest import Harvest
from ..roles import Roles, shipped
from ..statements import statements_in
from .assembly import Assembly, Told
from .chunk_view import ChunkView
from .cleaning import CleanChunk, clean, decode
from .families import Families
from .grids import GridReader
from .headings import Section, section_below
from .layouts import Fitting, Layouts, Part, in_order, indices_besides, without
from .plan import Pattern, Plan, Planner, Shape, shipped_patterns
from .tables import TableReader
from .template import learn

_IGNORED = b"0123456789.+-eE \t=>#\xe2\x96\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x81\x94\x95\x9a"
_VALUE_DIGITS = re.compile(rb"(?<![A-Za-z_@])(?<![A-Za-z_]-)[-+]?\b\d[\d.,]*(?:[eE][-+]?\d+)?")
_UNKNOWN = -1
_TABLE = 1
"""Number of the plan that all table lines share."""
MAX_PLANS = 100_000
"""Shapes remembered; beyond that a log is prose, and prose is judged line by line."""
MAX_OPEN = 8 << 20
"""An unfinished line longer than this is taken as it is."""
EVENTS_PER_SHAPE = 500
"""After so many warnings or checkpoints of one shape the rest are left out."""
LAST_FAILURES = 8
"""Of failures that a log repeats even more often, the last ones of each chunk are still read:
one of them may be the last word."""


class TextReader:
    """Reads one generation of one text log."""

    def __init__(
        self, roles: Roles | None = None, patterns: tuple[Pattern, ...] | None = None
    ) -> None:
        self._planner = Planner(roles or shipped(), (patterns or ()) + shipped_patterns())
        # Blank lines and ruled lines have an empty skeleton: they may close a table.
        self._numbers: dict[bytes, int] = {b"": _TABLE}
        self._plans: list[Plan] = [Plan(Shape.NOTHING), Plan(Shape.TABLE)]
        # One byte per plan: a log of prose has a hundred thousand, and many chunks.
        self._is_special = bytearray(2)
        """Whether lines of a plan may hold events, settings or statements."""
        self._is_table = bytearray([0, 1])
        self._is_heading = bytearray(2)
        """Whether lines of a plan name the split of those below them."""
        self._section: Section | None = None
        self._last_told: Told | None = None
        self._below: dict[tuple[int, str], int] = {}
        """Plan and split to the plan of such lines below a heading of that split."""
        self._is_below: set[int] = set()
        self._repeated: set[int] = set()
        """Plans of failures that were told hundreds of times."""
        self._has_tables = False
        self._families = Families()
        self._sharp: set[int] = set()
        """Plans whose lines differ in digits inside names: told apart line by line."""
        self._tables = TableReader(self._planner.roles)
        self._grids = GridReader(self._planner.roles)
        self._layouts = Layouts()

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete lines of `data`."""
        end = len(data) if final else _complete(data)
        if end == 0:
            return Harvest()
        chunk = clean(data[:end], is_open=not final and data[end - 1 : end] != b"\n")
        view = ChunkView(chunk)
        fittings = self._layouts.fit(chunk)
        numbers = self._classify(view, fittings)
        texts = _Texts(chunk.pieces)
        harvest = Harvest(lines=chunk.lines, consumed=end)
        starts = _LineStarts(data, end)
        skipped, stop = self._collect(chunk, numbers, texts, starts, harvest, final=final)
        if stop is not None and stop < len(chunk.pieces):
            # Something began that the next bytes will finish: come back to it then.
            numbers = numbers[:stop]
            harvest.lines = chunk.line_of(stop)
            harvest.consumed = starts[harvest.lines]
            if harvest.consumed == 0:
                return Harvest()
            harvest.statements = [s for s in harvest.statements if s.line <= harvest.lines]
        assembly = Assembly(self._planner.roles, view, self._last_told)
        if (moved := self._move_below_headings(chunk, numbers)) is not None:
            fittings = without(fittings, moved, len(numbers))
        self._read_groups(view, numbers, skipped, fittings, assembly)
        numbers[skipped[: len(numbers)]] = 0
        self._read_tables(chunk, numbers, texts, assembly, final=final)
        self._tables.shift(harvest.lines)
        assembly.build(harvest)
        self._last_told = assembly.last
        return harvest

    def forget_open_records(self) -> None:
        """Go on at another place of the file: what was left open there is not continued."""
        self._tables = TableReader(self._planner.roles)
        self._grids = GridReader(self._planner.roles)
        self._section = None
        self._last_told = None

    # -- shapes ---------------------------------------------------------------------------

    def _classify(self, view: ChunkView, fittings: list[Fitting]) -> npt.NDArray[np.int64]:
        chunk = view.chunk
        numbers = np.full(len(chunk.pieces), _UNKNOWN, dtype=np.int64)
        for layout, indices, _ in fittings:
            numbers[indices] = layout.plan
        others = np.flatnonzero(numbers == _UNKNOWN)
        if len(others):
            skeletons = view.join(others).translate(None, _IGNORED).split(b"\n")
            known = map(self._numbers.get, skeletons, repeat(_UNKNOWN))
            numbers[others] = np.fromiter(known, dtype=np.int64, count=len(skeletons))
            for place in np.flatnonzero(numbers[others] == _UNKNOWN).tolist():
                index = int(others[place])
                numbers[index] = self._number(skeletons[place], chunk, index)
        if self._sharp:
            self._sharpen(chunk, numbers)
        return numbers

    def _number(self, skeleton: bytes, chunk: CleanChunk, index: int) -> int:
        number = self._numbers.get(skeleton)
        if number is not None:
            return number
        piece = chunk.pieces[index]
        family = self._families.of(piece)
        if family.is_idle:
            return 0  # not remembered: there may be as many skeletons as lines
        plan = self._planner.plan(piece)
        family.note(plan)
        if plan.is_idle:
            number = 0
        elif plan.shape is Shape.TABLE and plan.rule is None and not plan.may_state:
            number = _TABLE
            self._has_tables = True
        else:
            number = len(self._plans)
            self._plans.append(plan)
            self._is_special.append(plan.is_special)
            self._is_table.append(plan.shape is Shape.TABLE)
            self._is_heading.append(bool(plan.heading))
            self._has_tables |= plan.shape is Shape.TABLE and plan.rule is None
        if len(self._numbers) < MAX_PLANS:
            self._numbers[skeleton] = number
        return number

    def _sharpen(self, chunk: CleanChunk, numbers: npt.NDArray[np.int64]) -> None:
        """Replace the number of a shape with varying names by that of its exact shape."""
        for index in np.flatnonzero(np.isin(numbers, list(self._sharp))).tolist():
            exact = b"\n" + _VALUE_DIGITS.sub(b"", chunk.pieces[index])
            numbers[index] = self._number(exact, chunk, index)

    def _move_below_headings(
        self, chunk: CleanChunk, numbers: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_] | None:
        """Give lines below a heading the plan with its split; which ones, None if none."""
        if self._section is None and not any(self._is_heading):
            return None
        moved = np.zeros(len(chunk.pieces), dtype=bool)
        pending = iter(_lines_of(self._is_heading, numbers).tolist())
        index = 0 if self._section is not None else next(pending, len(numbers))
        while index < len(numbers):
            plan = self._plans[numbers[index]]
            section = self._section
            if plan.heading:
                self._section = section_below(chunk.pieces[index], plan.heading)
            elif section is None or not self._stays_in(section, chunk.pieces[index], plan):
                self._section = None
                index = next((heading for heading in pending if heading > index), len(numbers))
                continue
            elif plan.takes_split and section.split != "train":
                numbers[index] = self._number_below(int(numbers[index]), section.split)
                moved[index] = True
            index += 1
        return moved if moved.any() else None

    @staticmethod
    def _stays_in(section: Section, line: bytes, plan: Plan) -> bool:
        """True if a line belongs to a section; one that says where it is does not."""
        is_anchored = plan.template is not None and plan.template.reading.is_anchored
        return section.takes(line) and not is_anchored

    def _number_below(self, number: int, split: str) -> int:
        """The number of the plan for lines of a plan below a heading."""
        known = self._below.get((number, split))
        if known is not None:
            return known
        plan = self._plans[number]
        assert plan.template is not None
        reading = replace(plan.template.reading, split=split)
        below = len(self._plans)
        self._plans.append(replace(plan, template=replace(plan.template, reading=reading)))
        self._is_special.append(False)
        self._is_table.append(False)
        self._is_heading.append(False)
        self._is_below.add(below)
        self._below[number, split] = below
        return below

    # -- events and configuration ---------------------------------------------------------

    def _collect(
        self,
        chunk: CleanChunk,
        numbers: npt.NDArray[np.int64],
        texts: _Texts,
        starts: _LineStarts,
        harvest: Harvest,
        *,
        final: bool,
    ) -> tuple[npt.NDArray[np.bool_], int | None]:
        """Events and configs, which pieces they cover, and where something is unfinished."""
        skipped = np.zeros(len(chunk.pieces), dtype=bool)
        plans = self._plans
        special = _lines_of(self._is_special, numbers)
        if not len(special):
            return skipped, None
        reached = 0
        settings: dict[str, object] = {}
        harvest.config = settings
        repeated = self._repeated_failures(numbers)
        for index in special.tolist():
            if index < reached or index in repeated:
                continue
            plan = plans[numbers[index]]
            if plan.is_heard:
                plan.statements_seen += 1
                self._is_special[numbers[index]] = plan.is_special
                line = chunk.line_of(index) + 1
                harvest.statements.extend(
                    replace(stated, line=line) for stated in statements_in(texts[index])
                )
            if plan.rule is not None:
                plan.events_seen += 1
                if plan.events_seen > EVENTS_PER_SHAPE:
                    self._repeated.add(int(numbers[index]))
                if plan.events_seen > EVENTS_PER_SHAPE and plan.rule.kind not in FAILURES:
                    continue
                collected = collect(texts, index, final=final)
                if collected is None:
                    return skipped, index
                for event in collected.events:
                    harvest.events.append(_placed(event, chunk, starts))
                if collected.next_index > index + 1:
                    reached = collected.next_index
                    skipped[index:reached] = True
                    continue
            if not plan.may_start_config:
                continue
            if (dump := config_from_lines(texts, index, final=final)) is not None:
                config, after = dump
                if after == index:
                    return skipped, index
                reached = after
                settings.update(config)
                skipped[index:reached] = True
        return skipped, None

    def _repeated_failures(self, numbers: npt.NDArray[np.int64]) -> set[int]:
        """Places of failures of a kind that was told hundreds of times, but for the last ones."""
        left_out: set[int] = set()
        for number in self._repeated:
            left_out.update(np.flatnonzero(numbers == number)[:-LAST_FAILURES].tolist())
        return left_out

    # -- numbers --------------------------------------------------------------------------

    def _read_groups(
        self,
        view: ChunkView,
        numbers: npt.NDArray[np.int64],
        skipped: npt.NDArray[np.bool_],
        fittings: list[Fitting],
        assembly: Assembly,
    ) -> None:
        if skipped.any() or len(numbers) < len(skipped):
            fittings = without(fittings, skipped, len(numbers))
        wanted = np.where(skipped[: len(numbers)], 0, numbers)
        order = np.argsort(wanted, kind="stable")
        values, first = np.unique(wanted[order], return_index=True)
        bounds = [*first.tolist(), len(order)]
        for number, start, end in zip(values.tolist(), bounds, bounds[1:], strict=False):
            plan = self._plans[number]
            if plan.shape is Shape.TEMPLATE:
                fitting = [one for one in fittings if one.layout.plan == number]
                self._read_group(view, number, order[start:end], assembly, fitting)
            elif plan.shape is Shape.CAREFUL:
                self._read_carefully(view.chunk, order[start:end], assembly)

    def _read_group(
        self,
        view: ChunkView,
        number: int,
        indices: npt.NDArray[np.int64],
        assembly: Assembly,
        fittings: Sequence[Fitting] = (),
    ) -> None:
        chunk = view.chunk
        template = self._plans[number].template
        assert template is not None
        parts = [
            Part(lines, values)
            for layout, lines, digits in fittings
            if (values := layout.read(digits)) is not None
        ]
        others = indices_besides(indices, parts)
        if len(others):
            joined = view.join(others)
            if number in self._is_below and not template.has_its_names(joined, len(others)):
                self._read_carefully(chunk, others, assembly)
            elif number not in self._sharp and not template.has_its_names(joined, len(others)):
                self._read_sharply(view, number, others, assembly)
            elif (matrix := template.parse(joined, len(others))) is None:
                self._read_carefully(chunk, others, assembly)
            else:
                parts.append(Part(others, matrix))
                if number not in self._is_below:
                    self._layouts.learn(number, template, chunk, others)
        if parts:
            assembly.add(template, *in_order(parts))

    def _read_sharply(
        self, view: ChunkView, number: int, indices: npt.NDArray[np.int64], assembly: Assembly
    ) -> None:
        """Read lines whose names turned out to differ in their digits."""
        chunk = view.chunk
        self._sharp.add(number)
        numbers = np.full(len(chunk.pieces), -1, dtype=np.int64)
        numbers[indices] = number
        self._sharpen(chunk, numbers)
        for exact in np.unique(numbers[indices]).tolist():
            group = indices[numbers[indices] == exact]
            if self._plans[exact].shape is Shape.TEMPLATE and exact != number:
                self._read_group(view, exact, group, assembly)
            else:
                self._read_carefully(chunk, group, assembly)

    def _read_carefully(
        self, chunk: CleanChunk, indices: npt.NDArray[np.int64], assembly: Assembly
    ) -> None:
        for index in indices.tolist():
            piece = chunk.pieces[index]
            text = decode(piece)
            reading = self._planner.read(text)
            if not (reading.slots or reading.coordinates or reading.bar):
                continue
            one = np.array([index])
            template = learn(piece, text, reading)
            matrix = template.parse(piece, 1) if template is not None else None
            if template is None or matrix is None:
                assembly.add_reading(reading, index)
            else:
                assembly.add(template, one, matrix)

    def _read_tables(
        self,
        chunk: CleanChunk,
        numbers: npt.NDArray[np.int64],
        texts: _Texts,
        assembly: Assembly,
        *,
        final: bool,
    ) -> None:
        if not self._has_tables:
            return
        for index in _lines_of(self._is_table, numbers).tolist():
            line, text = chunk.line_of(index), texts[index]
            for record in (self._tables.feed(line, text), self._grids.feed(line, text)):
                if record is not None:
                    assembly.add_record(record)
        if final and (record := self._tables.close()) is not None:
            assembly.add_record(record)


def _lines_of(flags: bytearray, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Lines whose plans have a flag."""
    # A copy: a bytearray that an array looks into could not grow.
    return np.flatnonzero(np.array(flags, dtype=np.uint8)[numbers])


def _complete(data: bytes) -> int:
    """Where the last complete line, or the last redraw of a progress bar, ends."""
    newline = data.rfind(b"\n") + 1
    # A carriage return at the very end may be half of a line end.
    redraw = data.rfind(b"\r", newline, len(data) - 1) + 1 if newline < len(data) else 0
    end = max(newline, redraw)
    return len(data) if end == 0 and len(data) > MAX_OPEN else end


def _placed(event: Event, chunk: CleanChunk, starts: _LineStarts) -> Event:
    first = chunk.line_of(max(0, event.line - 1))
    event.last_line = (
        chunk.line_of(max(0, min(len(chunk.pieces), event.last_line or event.line) - 1)) + 1
    )
    event.line = first + 1
    event.offset = starts[first]
    return event


class _Texts(Sequence[str]):
    """Decoded pieces, decoded when looked at."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [decode(piece) for piece in self._pieces[index]]
        return decode(self._pieces[index])

    def __len__(self) -> int:
        return len(self._pieces)


class _LineStarts:
    """Byte offsets of line starts in a chunk, found when first asked for."""

    def __init__(self, data: bytes, end: int) -> None:
        self._data, self._end = data, end
        self._starts: npt.NDArray[np.int64] | None = None

    def __getitem__(self, line: int) -> int:
        if self._starts is None:
            codes = np.frombuffer(self._data, dtype=np.uint8, count=self._end)
            self._starts = np.concatenate([[0], np.flatnonzero(codes == 10) + 1])
        return int(self._starts[min(line, len(self._starts) - 1)])

"""The general extractor: bytes of any text log to rows, columns and events."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..harvest import Harvest, Ints
from ..limits import LeftOut
from ..roles import Roles, shipped
from .assembly import Assembly
from .chunk_view import ChunkView
from .cleaning import CleanChunk, clean
from .collector import Collector, LineStarts, Texts
from .enclosed import open_lines
from .epoch_ends import EpochEnds
from .grids import GridReader, logged_row
from .groups import GroupReader
from .headings import Section, section_below
from .layouts import without
from .line_group import Told
from .plan import Pattern, Plan, Planner, shipped_patterns
from .plan_book import PlanBook
from .record_blocks import RecordBlocks
from .tables import TableReader
from .wrapping import Wrapping

MAX_OPEN = 8 << 20
"""An unfinished line longer than this is taken as it is."""

_RESULT = b" finished iteration "
"""Above each result of a trial in Ray's newer logs."""


class TextReader:
    """Reads one generation of one text log."""

    def __init__(
        self, roles: Roles | None = None, patterns: tuple[Pattern, ...] | None = None
    ) -> None:
        self._roles = roles or shipped()
        planner = Planner(self._roles, (patterns or ()) + shipped_patterns())
        self._labels = planner.labels
        self._book = PlanBook(planner)
        self._groups = GroupReader(planner, self._book)
        self._blocks = RecordBlocks(self._roles)
        self._prints_results = False
        self._wrapping = Wrapping()
        self._collector = Collector(self._book, self._blocks)
        self._section: Section | None = None
        self._last_told: Told | None = None
        self._epoch_ends = EpochEnds()
        self._tables = TableReader(self._roles)
        self._grids = GridReader(self._roles)

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete lines of `data`."""
        end = len(data) if final else self._wrapping.open_message(data, _complete(data))
        if end == 0:
            return Harvest()
        is_open = not final and data[end - 1 : end] != b"\n"
        chunk = clean(open_lines(data[:end]), is_open=is_open)
        chunk = self._wrapping.unwrap(chunk)
        view = ChunkView(chunk)
        if self._labels.look(chunk.pieces):
            self._book.forget_shapes()
        fittings = self._groups.fit(chunk)
        numbers = self._book.classify(view, fittings)
        texts = Texts(chunk.pieces)
        harvest = Harvest(lines=chunk.lines, consumed=end)
        starts = LineStarts(data, end)
        found = self._collector.collect(chunk, numbers, texts, starts, harvest, final=final)
        if found.stop is not None and found.stop < len(chunk.pieces):
            # Something began that the next bytes will finish: come back to it then.
            numbers = numbers[: found.stop]
            harvest.lines = chunk.line_of(found.stop)
            harvest.consumed = starts[harvest.lines]
            if harvest.consumed == 0:
                return Harvest()
            harvest.statements = [s for s in harvest.statements if s.line <= harvest.lines]
        assembly = Assembly(self._roles, view, self._last_told, self._epoch_ends)
        if (moved := self._move_below_headings(chunk, numbers)) is not None:
            fittings = without(fittings, moved, len(numbers))
        self._groups.read(view, numbers, found.skipped, fittings, assembly)
        numbers[found.skipped[: len(numbers)]] = 0
        for record in found.records:
            record.line = chunk.line_of(record.line)
            assembly.add_record(record)
        self._read_tables(chunk, numbers, texts, assembly, final=final)
        self._note_left_out(harvest)
        self._tables.shift(harvest.lines)
        assembly.build(harvest)
        self._last_told = assembly.last
        return harvest

    def _note_left_out(self, harvest: Harvest) -> None:
        budget = self._book.budget
        if count := budget.left_out + self._grids.left_out:
            harvest.left_out[LeftOut.SHAPES] = count
            budget.left_out = self._grids.left_out = 0

    def forget_open_records(self) -> None:
        """Go on at another place of the file: what was left open there is not continued."""
        self._tables = TableReader(self._roles)
        self._grids = GridReader(self._roles)
        self._section = None
        self._last_told = None
        self._epoch_ends = EpochEnds()

    def _move_below_headings(
        self, chunk: CleanChunk, numbers: Ints
    ) -> npt.NDArray[np.bool_] | None:
        """Give lines below a heading the plan with its split; which ones, None if none."""
        if self._section is None and not self._book.has_headings:
            return None
        moved = np.zeros(len(chunk.pieces), dtype=bool)
        pending = iter(self._book.headings(numbers).tolist())
        index = 0 if self._section is not None else next(pending, len(numbers))
        while index < len(numbers):
            plan = self._book[numbers[index]]
            section = self._section
            if plan.heading:
                self._section = section_below(chunk.pieces[index], plan.heading)
            elif section is None or not self._stays_in(section, chunk.pieces[index], plan):
                self._section = None
                index = next((heading for heading in pending if heading > index), len(numbers))
                continue
            elif plan.takes_split and section.split != "train":
                numbers[index] = self._book.number_below(int(numbers[index]), section.split)
                moved[index] = True
            index += 1
        return moved if moved.any() else None

    @staticmethod
    def _stays_in(section: Section, line: bytes, plan: Plan) -> bool:
        """True if a line belongs to a section; one that says where it is does not."""
        is_anchored = plan.template is not None and plan.template.reading.is_anchored
        return section.takes(line) and not is_anchored

    def _read_tables(
        self,
        chunk: CleanChunk,
        numbers: Ints,
        texts: Texts,
        assembly: Assembly,
        *,
        final: bool,
    ) -> None:
        if not self._book.has_tables:
            return
        for index in self._book.tables(numbers).tolist():
            line, text = chunk.line_of(index), self._labels.without(texts[index])
            text = logged_row(text, self._roles) or text
            for record in (self._tables.feed(line, text), self._grids.feed(line, text)):
                if record is not None and not (record.is_status and self._has_results(chunk)):
                    assembly.add_record(record)
        if final and (record := self._tables.close()) is not None:
            assembly.add_record(record)

    def _has_results(self, chunk: CleanChunk) -> bool:
        """True if trials print what they measure by themselves, not only in tables of all."""
        self._prints_results |= self._blocks.has_results or _RESULT in chunk.joined
        return self._prints_results


def _complete(data: bytes) -> int:
    """Where the last complete line, or the last redraw of a progress bar, ends."""
    newline = data.rfind(b"\n") + 1
    # A carriage return at the very end may be half of a line end.
    redraw = data.rfind(b"\r", newline, len(data) - 1) + 1 if newline < len(data) else 0
    end = max(newline, redraw)
    return len(data) if end == 0 and len(data) > MAX_OPEN else end

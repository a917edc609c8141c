"""Events, settings and statements: what a chunk says besides its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np
import numpy.typing as npt

from ..config import config_from_lines
from ..event import Event
from ..events.collect import collect
from ..events.rule import FAILURES
from ..harvest import Harvest, Ints
from ..limits import MOST_SETTINGS_BLOCKS, LeftOut
from ..statements import statements_in
from .cleaning import CleanChunk, decode
from .plan import Plan
from .plan_book import PlanBook
from .record_blocks import RecordBlocks
from .source_code import source_end
from .tables import TableRecord

EVENTS_PER_SHAPE = 500
"""After so many warnings or checkpoints of one shape the rest are left out."""
LAST_FAILURES = 8
"""Of failures that a log repeats even more often, the last ones of each chunk are still read:
one of them may be the last word."""


MOST_IN_VAIN = 20_000
"""Lines that are looked at ahead, all in all, for dumps that none of them turned out to be: a
headline of settings that stands above every epoch announces none."""


class Texts(Sequence[str]):
    """Decoded pieces, decoded when looked at."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self.looks = 0
        """How many were looked at, again and again counted."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """The text of a piece, or of several."""
        if isinstance(index, slice):
            pieces = self._pieces[index]
            self.looks += len(pieces)
            return [decode(piece) for piece in pieces]
        self.looks += 1
        return decode(self._pieces[index])

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self._pieces)


class LineStarts:
    """Byte offsets of line starts in a chunk, found when first asked for."""

    def __init__(self, data: bytes, end: int) -> None:
        self._data, self._end = data, end
        self._starts: npt.NDArray[np.int64] | None = None

    def __getitem__(self, line: int) -> int:
        """Where a line starts; the last one if there are fewer."""
        if self._starts is None:
            codes = np.frombuffer(self._data, dtype=np.uint8, count=self._end)
            self._starts = np.concatenate([[0], np.flatnonzero(codes == 10) + 1])
        return int(self._starts[min(line, len(self._starts) - 1)])


@dataclass(slots=True)
class Collected:
    """What was found in a chunk besides numbers."""

    skipped: npt.NDArray[np.bool_]
    """Pieces that events and dumps cover: their numbers are no metrics."""
    records: list[TableRecord] = field(default_factory=list)
    """Of several lines; their lines are pieces of the chunk."""
    stop: int | None = None
    """The piece with which something begins that the next bytes will finish."""


@dataclass(slots=True)
class Collector:
    """Goes through the lines of a log that its plans call special."""

    _book: PlanBook
    _blocks: RecordBlocks
    _repeated: set[int] = field(default_factory=set)
    """Plans of failures that were told hundreds of times."""
    _settings_blocks: int = 0

    def collect(
        self,
        chunk: CleanChunk,
        numbers: Ints,
        texts: Texts,
        starts: LineStarts,
        harvest: Harvest,
        *,
        final: bool,
    ) -> Collected:
        """Put events, settings and statements into a harvest."""
        found = Collected(np.zeros(len(chunk.pieces), dtype=bool))
        special = self._book.special(numbers)
        if not len(special):
            return found
        reached = 0
        settings: dict[str, object] = {}
        harvest.config = settings
        repeated = self._repeated_failures(numbers)
        for index in special.tolist():
            if index < reached or index in repeated:
                continue
            number = int(numbers[index])
            plan = self._book[number]
            if plan.is_heard:
                self._hear(plan, number, chunk.line_of(index) + 1, texts[index], harvest)
            if plan.rule is not None:
                plan.events_seen += 1
                if plan.events_seen > EVENTS_PER_SHAPE and number not in self._repeated:
                    self._repeated.add(number)
                    repeated |= _all_but_last(numbers, number)
                if plan.events_seen > EVENTS_PER_SHAPE and plan.rule.kind not in FAILURES:
                    continue
                collected = collect(texts, index, final=final)
                if collected is None:
                    found.stop = index
                    return found
                for event in collected.events:
                    harvest.events.append(_placed(event, chunk, starts))
                if collected.next_index > index + 1:
                    reached = collected.next_index
                    found.skipped[index:reached] = True
                    continue
            if plan.looks_in_vain >= MOST_IN_VAIN:
                continue
            before = texts.looks
            may_start_config = plan.may_start_config
            if may_start_config and self._settings_blocks >= MOST_SETTINGS_BLOCKS:
                may_start_config = False
                count = harvest.left_out.get(LeftOut.SETTINGS, 0)
                harvest.left_out[LeftOut.SETTINGS] = count + 1
            if may_start_config and (dump := config_from_lines(texts, index, final=final)):
                config, reached = dump
                if reached == index:
                    found.stop = index
                    return found
                self._settings_blocks += 1
                settings.update(config)
                found.skipped[index:reached] = True
            elif plan.may_open_record and (block := self._blocks.read(texts, index, final=final)):
                if block.record is None:
                    found.stop = index
                    return found
                reached = block.end
                found.records.append(block.record)
                found.skipped[index:reached] = True
            elif (
                plan.may_open_source and (end := source_end(texts, index, final=final)) is not None
            ):
                if end == index:
                    found.stop = index
                    return found
                reached = end
                found.skipped[index:reached] = True
            else:
                plan.looks_in_vain += texts.looks - before
        return found

    def _hear(self, plan: Plan, number: int, line: int, text: str, harvest: Harvest) -> None:
        plan.statements_seen += 1
        self._book.note_heard(number)
        harvest.statements.extend(replace(stated, line=line) for stated in statements_in(text))

    def _repeated_failures(self, numbers: Ints) -> set[int]:
        """Places of failures of a kind that was told hundreds of times, but for the last ones."""
        found = self._repeated.intersection(np.unique(numbers).tolist()) if self._repeated else ()
        return {place for number in found for place in _all_but_last(numbers, number)}


def _all_but_last(numbers: Ints, number: int) -> set[int]:
    """Places of the lines of a plan, but for those of the last failures."""
    return set(np.flatnonzero(numbers == number)[:-LAST_FAILURES].tolist())


def _placed(event: Event, chunk: CleanChunk, starts: LineStarts) -> Event:
    first = chunk.line_of(max(0, event.line - 1))
    event.last_line = (
        chunk.line_of(max(0, min(len(chunk.pieces), event.last_line or event.line) - 1)) + 1
    )
    event.line = first + 1
    event.offset = starts[first]
    return event

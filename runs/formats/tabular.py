"""Tables with a header: CSV, TSV and their relatives, as training loops write them.

Lightning, Keras `CSVLogger`, ultralytics, timm, sentence-transformers, CatBoost, W&B exports:
one header of names, rows of mostly numbers, empty cells where a row says nothing.
"""

from __future__ import annotations

import re
from pathlib import PurePath

import numpy as np

from ..event import Event, EventKind
from ..events import classify
from ..harvest import Harvest
from ..limits import MOST_HEADINGS, LeftOut
from ..roles import shipped
from .format import Reader
from .records import join_harvests
from .tabular_cells import (
    Header,
    Rows,
    find_delimiter,
    harvest_table,
    is_header,
    is_skipped,
    read_number,
    split_cells,
)
from .tabular_fast import read_numeric_block
from .training_names import training_likeness

FAST_FROM_BYTES = 1 << 15
"""Smaller pieces (a live file's next lines) are not worth the import of pandas."""
LONGEST_QUOTED_CELL = 64
"""Lines; past that an opening quote is taken for a stray character."""
_KEY_VALUE = re.compile(r"[ :=][-+]?\.?\d")


class TabularReader:
    """Reads a table piece by piece."""

    def __init__(self, *, subject: str = "", fast_from: int = FAST_FROM_BYTES) -> None:
        self._subject = subject
        """What the table is about, by the name of its file."""
        self._header: Header | None = None
        self._headers: set[tuple[str, ...]] = set()
        self._left_out = 0
        """Rows in this feed below a header beyond the limit."""
        self._is_left_out = False
        """Rows are below such a header."""
        self._is_begun = False
        self._line = self._offset = 0  # how far this feed has come
        self._fast_from = fast_from

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete rows in `data`."""
        end = len(data) if final else data.rfind(b"\n") + 1
        self._line = self._offset = 0
        parts: list[Harvest] = []
        position = 0
        if self._header is None:
            first = data.find(b"\n", 0, end) + 1
            parts.append(self._read_carefully(data[:first], final=False))
            position = parts[0].consumed
        pending, can_split = [end], True
        while pending:
            stop = pending[-1]
            size = stop - position
            part = self._read_fast(data, position, stop)
            if part is None and can_split and size >= 2 * self._fast_from:
                # What disturbs the fast way is usually one line: narrow it down.
                middle = data.rfind(b"\n", position, position + size // 2) + 1
                if middle > position:
                    pending.append(middle)
                    continue
            if part is None:
                is_last = final and stop == end
                part = self._read_carefully(data[position:stop], final=is_last)
            parts.append(part)
            position += part.consumed
            can_split = position == stop  # else a quoted cell goes on past the piece
            pending.pop()
        found = join_harvests(parts)
        if self._left_out:
            found.left_out[LeftOut.HEADERS] = self._left_out
            self._left_out = 0
        return found

    def _read_fast(self, data: bytes, start: int, stop: int) -> Harvest | None:
        header = self._header
        if header is None or self._is_left_out or stop - start < self._fast_from:
            return None
        block = data[start:stop]
        table = read_numeric_block(block, header.delimiter.encode(), len(header.names))
        if table is None:
            return None
        values, missing = table
        count = len(values)
        line = np.arange(self._line + 1, self._line + 1 + count, dtype=np.int64)
        self._line += count
        if missing is not None and (empty := missing.all(axis=1)).any():
            line, values, missing = line[~empty], values[~empty], missing[~empty]
        found = harvest_table(header, line, values, missing, [])
        found.lines, found.consumed = count, stop - start
        self._offset += stop - start
        return found

    def _read_carefully(self, block: bytes, *, final: bool) -> Harvest:
        pieces = block.split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        first_line, consumed, index = self._line, 0, 0
        events: list[Event] = []
        tables: list[Rows] = []
        while index < len(pieces):
            raw, taken = pieces[index], 1
            if b'"' in raw:
                taken = _quoted_lines(pieces, index)
                if taken == 0 and not final:
                    break  # the quoted cell may end in lines still to come
                taken = taken or 1
                raw = b"\n".join(pieces[index : index + taken])
            text = raw.decode("utf-8", "replace")
            if not self._is_begun:
                self._is_begun = True
                text = text.removeprefix("\ufeff")
            restart = self._read_row(text, tables)
            if restart:
                offset = self._offset + consumed
                events.append(Event(EventKind.RESTART, restart, self._line + 1, offset, text=text))
            self._line += taken
            index += taken
            consumed += len(raw) + 1
        found = join_harvests([table.harvest() for table in tables])
        found.events = events
        found.lines, found.consumed = self._line - first_line, min(consumed, len(block))
        self._offset += found.consumed
        return found

    def _read_row(self, text: str, tables: list[Rows]) -> str:
        """Take in one row; the sentence to report if it is a header in the middle."""
        if is_skipped(text):
            return ""
        header = self._header
        delimiter = header.delimiter if header else find_delimiter(text)
        if delimiter is None:
            return ""
        cells = split_cells(text, delimiter)
        if header is None or _is_new_header(header, cells):
            if not is_header(cells):
                return ""
            return self._begin(cells, delimiter)
        if self._is_left_out:
            self._left_out += 1
            return ""
        if not tables or tables[-1].header is not header:
            tables.append(Rows(header))
        tables[-1].add(self._line + 1, cells)
        return ""

    def _begin(self, cells: list[str], delimiter: str) -> str:
        """Take a header; the sentence to report if it is one in the middle."""
        names = tuple(cells)
        self._is_left_out = len(self._headers) >= MOST_HEADINGS and names not in self._headers
        if self._is_left_out:
            return ""
        is_first = self._header is None
        self._headers.add(names)
        self._header = Header.of(self._named_by_file(cells), delimiter)
        return "" if is_first else "the table's header is written again: the run was restarted"

    def _named_by_file(self, cells: list[str]) -> list[str]:
        """`Wall time,Step,Value`, as TensorBoard saves a curve: the file tells what of."""
        if not self._subject or sum(map(_is_nameless, cells)) != 1:
            return cells
        return [self._subject if _is_nameless(cell) else cell for cell in cells]


def _is_nameless(cell: str) -> bool:
    return cell.strip().casefold() == "value"


def _subject(path: str) -> str:
    """`run-train-tag-loss.csv` holds `loss`; any other file what its own name says."""
    name = PurePath(path).name
    stem = name[: -len(suffix)] if (suffix := "".join(PurePath(name).suffixes)) else name
    run, tag, subject = stem.rpartition("tag-")
    if not tag:
        return stem if shipped().role_of(stem) else ""
    split = shipped().split_of(run)
    return subject if not split or shipped().split_of(subject) else f"{split}/{subject}"


def _is_new_header(header: Header, cells: list[str]) -> bool:
    if read_number(cells[0]) is not None or not is_header(cells):
        return False
    shared = len(set(cells) & set(header.names))
    return shared * 2 >= len(cells) or training_likeness(cells) >= 0.75


def _quoted_lines(pieces: list[bytes], index: int) -> int:
    """How many lines the row at `index` spans; 0 if its quote is still open at the end."""
    quotes = 0
    for taken, piece in enumerate(pieces[index : index + LONGEST_QUOTED_CELL], start=1):
        quotes += piece.count(b'"')
        if quotes % 2 == 0:
            return taken
    return 1 if len(pieces) - index >= LONGEST_QUOTED_CELL else 0


class TabularFormat:
    """CSV, TSV and semicolon tables of a training run."""

    name = "csv"
    is_snapshot = False

    def sniff(self, head: bytes, path: str) -> float:
        """A header of names over rows of numbers, and names that a training run has."""
        if b"\0" in head:
            return 0.0
        text = head.decode("utf-8", "replace").removeprefix("\ufeff")
        complete, _, rest = text.rpartition("\n")
        lines = [ln for ln in (complete if complete else rest).split("\n") if not is_skipped(ln)]
        if not lines or (delimiter := find_delimiter(lines[0])) is None:
            return 0.0
        names = split_cells(lines[0], delimiter)
        if not is_header(names) or lines[0].lstrip().startswith(("{", "[")):
            return 0.0
        likeness = training_likeness(names)
        if names == ["r", "l", "t"] and text.startswith("#"):
            likeness = 0.9  # episodes of a Gym monitor: reward, length, time
        rows = [split_cells(line, delimiter) for line in lines[1:51]]
        if not rows:
            # A first line of "epoch: 1, loss: 0.5" is no header, nor "Loss is nan, stopping".
            is_told = any(_KEY_VALUE.search(name) for name in names) or classify(lines[0])
            return 0.0 if is_told else likeness * 0.6
        fitting = [row for row in rows if abs(len(row) - len(names)) <= 1]
        if len(fitting) * 5 < len(rows) * 4:
            return 0.0
        cells = [cell for row in fitting if row != names for cell in row if cell]
        numeric = sum(read_number(cell, delimiter) is not None for cell in cells)
        needed = 0.9 if likeness <= 0.5 else 0.4
        return likeness if cells and numeric >= needed * len(cells) else 0.0

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return TabularReader(subject=_subject(path))

"""Tables with a header line and one record per row: fastai, skorch, ultralytics, tabulate.

  epoch    train_loss    valid_acc     dur
-------  ------------  -----------  ------
      1        2.3026       0.1021  3.2101
"""

from __future__ import annotations

import re

from ..roles import Roles
from .numbers import NUMBER, parse_number
from .tables import TableRecord

_COLUMN_GAP = re.compile(r"\s{2,}|[|│┃\t]")
_TRAILING_BAR = re.compile(r":\s+(?P<percent>\d{1,3})%\|.*$")
"""The progress bar that ultralytics draws behind a row."""
_FRACTION = re.compile(r"(?P<n>\d+)/\d+")
_DURATION = re.compile(r"\d+(?::\d{2})+|\d+h\d+m|\?|-+|nan?")
"""`00:03`, `1h20m`, and what stands in for a time that is not known."""
_COUNTER_NAMES = {"#": "step", "e": "epoch"}
"""Headings of the first columns that are too short to mean anything elsewhere."""
_NAME = re.compile(r"#|[^\W\d][\w./@%()-]*(?: [^\W\d][\w./@%()-]*){0,3}")
_HEADER_WORD = re.compile(
    r"epoch|step|iter|batch|round|tick|episode|loss|acc|err|score|\blr\b|rate|prec|map|ppl|f1|reward",
    re.IGNORECASE,
)
"""One of these is in every header that names a coordinate or two metrics."""
_TWO_NUMBERS = re.compile(r"\d\S*[\s|│]+\S*\d")
MAX_CELLS = 40
MAX_WIDTH = 600
"""Characters; nobody prints a wider table."""


def header_cells(text: str, roles: Roles) -> list[str] | None:
    """Column names if the line is a header of metrics, else None."""
    if len(text) > MAX_WIDTH:
        return None
    if not _HEADER_WORD.search(text):
        return None  # quickly, for prose
    cells = _header_cells(_TRAILING_BAR.sub("", text))
    if not 2 <= len(cells) <= MAX_CELLS or not all(map(_NAME.fullmatch, cells)):
        return None
    axes = sum(_axis_rank(cell, roles)[0] is not None for cell in cells)
    known = sum(roles.is_known(cell) for cell in cells)
    if len(cells) == 2:
        return cells if axes == 1 and known == 1 else None
    return cells if known >= 2 or (axes and known) else None


def row_cells(text: str) -> list[str] | None:
    """Cells if the line is a row of numbers (the first cell may be a word), else None."""
    if len(text) > MAX_WIDTH:
        return None
    if not _TWO_NUMBERS.search(text):
        return None
    cells = _TRAILING_BAR.sub("", text).replace("|", " ").replace("│", " ").split()
    if not 2 <= len(cells) <= MAX_CELLS:
        return None
    numeric = sum(_is_numeric(cell) for cell in cells)
    words = sum(not _is_numeric(cell) and not _DURATION.fullmatch(cell) for cell in cells)
    has_label = words == 1 and not _is_numeric(cells[0]) and numeric > 2
    return cells if numeric >= 2 and (not words or has_label) else None


def _header_cells(text: str) -> list[str]:
    """Cells with spaces if columns are kept apart by more than one, else words."""
    if not _COLUMN_GAP.search(text.strip()):
        return text.split()
    cells = (cell.strip() for cell in _COLUMN_GAP.split(text.strip(" |│┃")))
    return [cell for cell in cells if cell]


def _is_numeric(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None or _FRACTION.fullmatch(cell) is not None


class GridReader:
    """Remembers the header and turns the rows below it into records."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._header: list[str] = []

    def feed(self, line: int, text: str) -> TableRecord | None:
        """Take a header (nothing comes out) or a row (its record does, if it fits)."""
        header = header_cells(text, self._roles)
        if header is not None:
            self._header = header
            return None
        cells = row_cells(text) if self._header else None
        if cells is None or len(cells) != len(self._header) or _is_being_drawn(text):
            return None
        record = TableRecord(line, is_certain=True)
        if not _is_numeric(cells[0]):
            # `train`, `vali` and `test`, one below the other.
            record.split = self._roles.split_of(cells[0])
        for name, cell in zip(self._header, cells, strict=True):
            self._take(record, name, cell)
        return record if record.values or record.axes else None

    def _take(self, record: TableRecord, name: str, cell: str) -> None:
        if fraction := _FRACTION.fullmatch(cell):
            value = float(fraction["n"])
        elif number := NUMBER.fullmatch(cell):
            value = parse_number(number["number"])
        else:
            return
        axis, precedence = _axis_rank(name, self._roles)
        if axis is not None:
            record.axes[axis] = (precedence, value)
        else:
            record.values[name] = value


def _axis_rank(name: str, roles: Roles) -> tuple[str | None, int]:
    """The coordinate that a column holds, if it is one."""
    if (axis := _COUNTER_NAMES.get(name.casefold())) is not None:
        return axis, 0
    axis, precedence = roles.axis_rank(name)
    return (axis, precedence) if axis in ("step", "epoch") else (None, 0)


def _is_being_drawn(row: str) -> bool:
    """The bar behind the row is not full yet: the row will be printed again."""
    bar = _TRAILING_BAR.search(row)
    return bar is not None and bar["percent"] != "100"

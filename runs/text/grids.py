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

_CELLS = re.compile(r"[^\s|│┃]+(?: [^\s|│┃]+)*")
_WIDE_GAP = re.compile(r"\s{2,}|[|│┃\t]")
_TRAILING_BAR = re.compile(r":\s+(?P<percent>\d{1,3})%\|.*$")
_FRACTION = re.compile(r"(\d+)/(\d+)")
_TIME = re.compile(r"\d+(?::\d{2})+|\d+h\d+m|\?|-+|nan?")
_NAME = re.compile(r"[^\W\d][\w./@%()-]*(?: [^\W\d][\w./@%()-]*){0,3}")
MAX_CELLS = 40


def header_cells(text: str, roles: Roles) -> list[str] | None:
    """Column names if the line is a header of metrics, else None."""
    if len(text) > 600:
        return None
    body = _TRAILING_BAR.sub("", text)
    cells = _split(body)
    if not 2 <= len(cells) <= MAX_CELLS or not all(_NAME.fullmatch(cell) for cell in cells):
        return None
    axes = sum(roles.axis_of(cell) in ("epoch", "step") for cell in cells)
    known = sum(roles.is_known(cell) for cell in cells)
    if len(cells) == 2 and not (axes == 1 and known == 1):
        return None
    return cells if known >= 2 or (axes and known) else None


def row_cells(text: str) -> list[str] | None:
    """Cells if the line is a row of numbers (the first cell may be a word), else None."""
    if len(text) > 600:
        return None
    cells = [
        c for c in _TRAILING_BAR.sub("", text).replace("|", " ").replace("│", " ").split() if c
    ]
    if not 2 <= len(cells) <= MAX_CELLS:
        return None
    numeric = sum(_is_numeric(cell) for cell in cells)
    words = sum(not _is_numeric(cell) and not _TIME.fullmatch(cell) for cell in cells)
    has_label = words == 1 and not _is_numeric(cells[0]) and numeric > 2
    return cells if numeric >= 2 and (not words or has_label) else None


def _is_numeric(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None or _FRACTION.fullmatch(cell) is not None


def _split(text: str) -> list[str]:
    if _WIDE_GAP.search(text.strip()):
        return [cell.strip() for cell in _WIDE_GAP.split(text.strip(" |│┃")) if cell.strip()]
    return text.split()


class GridReader:
    """Remembers the header and turns the rows below it into records."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._header: list[str] = []
        self._misses = 0

    def feed(self, line: int, text: str) -> TableRecord | None:
        """Take a header (nothing comes out) or a row (its record does, if it fits)."""
        header = header_cells(text, self._roles)
        if header is not None:
            self._header, self._misses = header, 0
            return None
        cells = row_cells(text) if self._header else None
        if cells is None or len(cells) != len(self._header):
            return None
        bar = _TRAILING_BAR.search(text)
        if bar is not None and bar["percent"] != "100":
            return None
        record = TableRecord(line, is_certain=True)
        for name, cell in zip(self._header, cells, strict=True):
            self._take(record, name, cell)
        return record if record.values or record.axes else None

    def _take(self, record: TableRecord, name: str, cell: str) -> None:
        number = NUMBER.fullmatch(cell)
        fraction = _FRACTION.fullmatch(cell)
        if fraction is not None:
            value = float(fraction[1])
        elif number is not None:
            value = parse_number(number["number"])
        else:
            return
        axis, precedence = self._roles.axis_rank(name)
        if axis in ("step", "epoch"):
            record.axes[axis] = (precedence, value)
        else:
            record.values[name] = value

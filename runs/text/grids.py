"""Tables with a header line and one record per row: fastai, skorch, ultralytics, tabulate.

  epoch    train_loss    valid_acc     dur
-------  ------------  -----------  ------
      1        2.3026       0.1021  3.2101
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..limits import MOST_HEADINGS
from ..roles import Roles
from .numbers import NUMBER, parse_number
from .prefix import read_prefix
from .tables import TableRecord

_COLUMN_GAP = re.compile(r"\s{2,}|[|│┃║\t]")
_EDGE = re.compile(r"[|│┃║]")
_EDGES = "|│┃║"
_COMMENT = re.compile(r"^\s*#\s*(?=[^\W\d])")
"""A header that is kept out of the way of programs that read numbers."""
_TRAILING_BAR = re.compile(r":\s+(?P<percent>\d{1,3})%\|.*$")
"""The progress bar that ultralytics draws behind a row."""
_FRACTION = re.compile(r"(?P<n>\d+)/\d+")
_DURATION = re.compile(r"\d+(?::\d{2})+|\d+h\d+m|\?|-+|nan?")
"""`00:03`, `1h20m`, and what stands in for a time that is not known."""
_COUNTER_NAMES = {"#": "step", "e": "epoch"}
"""Headings of the first columns that are too short to mean anything elsewhere."""
_SPACY = ("e", "#")
"""First columns of spaCy's table: losses since the row before, and scores on the data held out."""
_CLASSES = "class"
"""First column of a table of what was found of each class, as an evaluation prints it."""
_WORD = re.compile(r"\S+")
_NAME = re.compile(r"#|[^\W\d][\w./@%()-]*(?: (?:[^\W\d]|[(\[])[\w./:@%()\[\]-]*){0,3}")
_HEADER_WORD = re.compile(
    r"epoch|step|iter|batch|round|tick|episode|loss|acc|err|score|\blr\b|rate|prec|map|ppl|f1|reward",
    re.IGNORECASE,
)
"""One of these is in every header that names a coordinate or two metrics."""
_LETTER = re.compile(r"[^\W\deE_]")
"""Of a word; `1e-5` has none."""
_TRIAL = re.compile(r"[A-Za-z][\w.=,-]*\d[\w.=,-]*")
"""`train_cifar_a1b2c_00001`."""
_TRIAL_HEADER = re.compile(r"trial|run", re.IGNORECASE)
_LOGGER_NAME = re.compile(r"^\s*\w+(?:\.\w+)+\s+-\s")
_TWO_NUMBERS = re.compile(r"\d\S*[\s|│┃║]+(?:\S*\d|N/A)|N/A[\s|│┃║]+\S*\d")
_NOT_MEASURED = "N/A"
_SPLIT_HEADER = re.compile(r"\b(?:val|valid|validation|test|eval|dev)\b", re.IGNORECASE)
"""Quickly, for prose: one of these is in every header that names splits."""
_SPLIT_LABEL = re.compile(r"train(?:ing)?|val(?:id(?:ation)?)?|test|dev|eval", re.IGNORECASE)
_MOST_SPLITS = 6
_MIN_ROWS = 2
MAX_CELLS = 40
MAX_WIDTH = 600
"""Characters; nobody prints a wider table."""


def header_cells(text: str, roles: Roles) -> list[str] | None:
    """Column names if the line is a header of metrics, else None."""
    if len(text) > MAX_WIDTH:
        return None
    if not _HEADER_WORD.search(text):
        return None  # quickly, for prose
    cells = _header_cells(_COMMENT.sub("", _TRAILING_BAR.sub("", text), count=1))
    return cells if _names_metrics(cells, roles) else None


def heading_cells(text: str) -> list[str] | None:
    """Cells, empty ones too, of a drawn row of words that may be one of several of a header."""
    if len(text) > MAX_WIDTH or not _HEADER_WORD.search(text):
        return None
    bare = text.strip()
    if bare[0] not in _EDGES or bare[-1] not in _EDGES:
        return None
    cells = [cell.strip() for cell in _EDGE.split(bare[1:-1])]
    if not 3 <= len(cells) <= MAX_CELLS or any(c.isdigit() for c in text):
        return None
    return cells


def _names_metrics(cells: list[str], roles: Roles) -> bool:
    if not 2 <= len(cells) <= MAX_CELLS or not all(map(_NAME.fullmatch, cells)):
        return False
    axes = sum(_axis_rank(cell, roles)[0] is not None for cell in cells)
    known = sum(roles.is_known(cell) for cell in cells)
    if len(cells) == 2:
        return axes == 1 and known == 1
    return known >= 2 or bool(axes and known)


def split_cells(text: str, roles: Roles) -> list[str] | None:
    """Splits if the line is a header such as `metric | train | val`, else None."""
    if len(text) > MAX_WIDTH or not _SPLIT_HEADER.search(text):
        return None
    if not _COLUMN_GAP.search(text.strip()):
        return None
    cells = _header_cells(text)
    found = [cell for cell in cells if roles.is_split(cell)]
    is_labelled = len(cells) == len(found) + 1 and cells[1:] == found
    if not 2 <= len(found) <= _MOST_SPLITS or not (is_labelled or cells == found):
        return None
    return found


def row_cells(text: str) -> list[str] | None:
    """Cells if the line is a row of numbers (the first cell may be a word), else None."""
    if len(text) > MAX_WIDTH:
        return None
    if not _TWO_NUMBERS.search(text):
        return None
    if (drawn := _drawn_cells(text)) is not None:
        return drawn
    cells = _EDGE.sub(" ", _TRAILING_BAR.sub("", text)).split()
    if not 2 <= len(cells) <= MAX_CELLS:
        return None
    numeric = sum(_is_numeric(cell) for cell in cells)
    words = sum(not _is_numeric(cell) and not _DURATION.fullmatch(cell) for cell in cells)
    is_label = words == 1 and not _is_numeric(cells[0])
    has_label = is_label and (numeric > 2 or _SPLIT_LABEL.fullmatch(cells[0]) is not None)
    return cells if numeric >= 2 and (not words or has_label) else None


def _drawn_cells(text: str) -> list[str] | None:
    """Cells between the edges of a row that is drawn all around; empty ones count."""
    bare = text.strip()
    if bare[0] not in _EDGES or bare[-1] not in _EDGES:
        return None
    cells = [cell.strip() for cell in _EDGE.split(bare[1:-1])]
    if not 2 <= len(cells) <= MAX_CELLS:
        return None
    numeric = sum(_is_numeric(cell) for cell in cells)
    absent = cells.count(_NOT_MEASURED)
    fits = (
        not cell or _is_numeric(cell) or cell == _NOT_MEASURED or _DURATION.fullmatch(cell)
        for cell in cells[1:]
    )
    has_label = not _is_numeric(cells[0]) and _NAME.fullmatch(cells[0]) is not None
    if (
        not numeric
        or numeric + absent < 2
        or not all(fits)
        or not (has_label or _is_numeric(cells[0]))
    ):
        return None
    return cells


def trial_cells(text: str) -> list[str] | None:
    """Cells of a drawn row about one of several trials: its name, words and numbers."""
    bare = text.strip()
    if len(text) > MAX_WIDTH or bare[:1] not in _EDGES or bare[-1:] not in _EDGES:
        return None
    cells = [cell.strip() for cell in _COLUMN_GAP.split(bare.strip(" " + _EDGES))]
    cells = [cell for cell in cells if cell]
    if not 4 <= len(cells) <= MAX_CELLS or not _TRIAL.fullmatch(cells[0]):
        return None
    return cells if sum(map(_is_numeric, cells)) >= 2 else None


def logged_row(text: str, roles: Roles) -> str | None:
    """A row of a table `metric | train | val` that a logger prints line by line, as if drawn."""
    if "|" not in text or len(text) > MAX_WIDTH:
        return None
    prefix = read_prefix(text)
    if not prefix.stamp and not prefix.level:
        return None
    body = _LOGGER_NAME.sub("", text[prefix.end :])
    if _SPLIT_HEADER.search(body) and split_cells(body, roles):
        return body
    row = f"|{body}|"
    cells = _drawn_cells(row)
    return row if cells is not None and not _is_numeric(cells[0]) else None


def _header_cells(text: str) -> list[str]:
    """Cells with spaces if columns are kept apart by more than one, else words."""
    if not _COLUMN_GAP.search(text.strip()):
        return text.split()
    cells = (cell.strip() for cell in _COLUMN_GAP.split(text.strip(" " + _EDGES)))
    return [cell for cell in cells if cell]


def _is_numeric(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None or _FRACTION.fullmatch(cell) is not None


def has_grid(lines: Sequence[str], roles: Roles) -> bool:
    """True if rows of numbers stand below a header of metrics."""
    reader = GridReader(roles)
    return sum(reader.feed(0, line) is not None for line in lines) >= _MIN_ROWS


class GridReader:
    """Remembers the header and turns the rows below it into records."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._header: list[str] = []
        self._splits: list[str] = []
        """Columns of the header read last, if those are splits and the rows are metrics."""
        self._above: list[str] = []
        """Cells of the line before, if those are words of a header."""
        self._words: list[re.Match[str]] = []
        """Words of the header, where some of its names have several."""
        self._headings: set[str] = set()
        """Lines that were headers."""
        self.left_out = 0
        """Lines below other headers, once there are too many."""
        self._trials: dict[str, dict[str, tuple[int, float]]] = {}
        """How far each trial was when it was last told."""

    def feed(self, line: int, text: str) -> TableRecord | None:
        """Take a header (nothing comes out) or a row (its record does, if it fits)."""
        # Long tables have many rows without any, and to look for names in them takes longest.
        has_words = _LETTER.search(text) is not None
        if len(self._headings) >= MOST_HEADINGS:
            if has_words and text not in self._headings:
                self._header, self._splits, self._above = [], [], []
            if not self._header and not self._splits and text not in self._headings:
                self.left_out += 1
                return None
        above, self._above = self._above, (has_words and heading_cells(text)) or []
        header = header_cells(text, self._roles) if has_words else None
        if above and len(above) == len(self._above):
            # `Validation` above `Loss`, `Time` above `(s)`.
            joined = [
                f"{upper} {lower}".strip() for upper, lower in zip(above, self._above, strict=True)
            ]
            header = joined if _names_metrics(joined, self._roles) else header
        if header is not None:
            self._header, self._splits = header, []
            self._headings.add(text)
            has_spaces = any(" " in name for name in header)
            self._words = list(_WORD.finditer(text)) if has_spaces else []
            return None
        if has_words and (splits := split_cells(text, self._roles)) is not None:
            self._header, self._splits = [], splits
            self._headings.add(text)
            return None
        if not self._header and not self._splits:
            return None
        cells = row_cells(text)
        if cells is None and (cells := trial_cells(text)) is not None:
            return self._trial_of(line, cells)
        if cells is None or _is_being_drawn(text):
            return None
        if self._words and _stand_below(self._words, text, len(cells)):
            # A wide column: `val_acc test_acc` are two names after all.
            self._header, self._words = [word[0] for word in self._words], []
        record = self._record_of(line, cells)
        return record if record is not None and (record.values or record.axes) else None

    def _trial_of(self, line: int, cells: list[str]) -> TableRecord | None:
        """What a row says about a trial that has gone on since it was last told."""
        header, (name, *values) = self._header, cells
        if len(cells) != len(header) or not _TRIAL_HEADER.search(header[0]):
            return None
        record = TableRecord(line, is_certain=True, is_status=True)
        is_first = name == next(iter(self._trials), name)
        for title, cell in zip(header[1:], values, strict=True):
            is_place = _axis_rank(title, self._roles)[0] is not None
            if is_place or self._roles.is_known(title):
                self._take(record, title if is_first or is_place else f"{title} [{name}]", cell)
        if not record.axes or not record.values or self._trials.get(name) == record.axes:
            return None
        self._trials[name] = record.axes
        return record

    def _record_of(self, line: int, cells: list[str]) -> TableRecord | None:
        label, width = cells[0], len(self._header)
        if self._splits:
            if _is_numeric(label) or len(cells) != len(self._splits) + 1:
                return None
            record = TableRecord(line, is_certain=self._roles.is_known(label))
            names = [f"{split}/{label}" for split in self._splits]
        elif self._roles.is_split(label) and len(cells) in (width, width + 1):
            # `val  0.31  0.90`, below `split  loss  acc` or below `loss  acc`.
            record = TableRecord(line, is_certain=True)
            names = [f"{label}/{name}" for name in self._header[1 - len(cells) :]]
        else:
            record = TableRecord(line, is_certain=True)
            if len(cells) == width + 1 and label.isdigit():
                label, *cells = cells  # the index that pandas prints
            names, cells = self._header, ["", *cells]
        if len(cells) != len(names) + 1:
            return None
        for name, cell in zip(names, cells[1:], strict=True):
            self._take(record, name, cell)
        self._note_split(record)
        return record

    def _note_split(self, record: TableRecord) -> None:
        """Tables that print scores of an evaluation under names that do not say so."""
        first = tuple(name.casefold() for name in self._header[:2])
        if first[:1] == (_CLASSES,):
            record.split = "val"
        elif first == _SPACY:
            record.split = "val"
            if record.axes.get("step", (0, 1.0))[1] == 0:
                # All other rows add up the losses of many batches.
                is_loss = {n for n in record.values if self._roles.role_of(n) == "train/loss"}
                record.values = {n: v for n, v in record.values.items() if n not in is_loss}

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


def _stand_below(words: list[re.Match[str]], row: str, width: int) -> bool:
    """True if each cell of a row of numbers has one word of the header above it."""
    cells = list(_WORD.finditer(row))
    if not len(words) == len(cells) == width:
        return False
    return all(
        word.start() < cell.end() and cell.start() < word.end()
        for word, cell in zip(words, cells, strict=True)
    )


@lru_cache(maxsize=1024)
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

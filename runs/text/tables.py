"""Two-column tables, one record per table: Stable-Baselines, Baselines, Lightning's test table.

| train/          |          |
|    loss         | 0.0386   |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..roles import Roles
from .numbers import NUMBER, parse_number

_ROW = re.compile(r"^\s*+[|│┃](?P<key>[^|│┃]++)[|│┃](?P<value>[^|│┃]*+)[|│┃]\s*+$")
_RULE = re.compile(
    r"^\s*(?:\|:?-{3}[|:+-]*+|[-+=_─━┄┈┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪═┏┓┗┛┡┩┳┻┃╇╬╦╩╠╣║╔╗╚╝]{6,})\s*$"
)
_AXES = ("step", "epoch", "tokens", "samples")
_SECTION_INDENT = 4
"""From so many characters on, the edge counted, a key belongs to the section above."""


def is_rule(text: str) -> bool:
    """True for a line that only draws the edge of a table."""
    return _RULE.match(text) is not None


def is_row(text: str) -> bool:
    """True for a line with exactly two cells."""
    return _ROW.match(text) is not None


@dataclass(slots=True)
class TableRecord:
    """All the numbers of one table."""

    line: int
    values: dict[str, float] = field(default_factory=dict)
    axes: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Axis to (precedence, value): the best name wins."""
    split: str = ""
    """On which data it was measured, where the table says so and the names do not."""
    is_certain: bool = False
    is_status: bool = False
    """A row that says how far one of several trials is, again and again."""


class TableReader:
    """Collects rows until a rule line closes the table."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._section = ""
        self._record: TableRecord | None = None
        self._has_words = False
        """A value was no number: what has no place in training then lists settings."""

    def feed(self, line: int, text: str) -> TableRecord | None:
        """Take one table line; a finished record comes out at the closing rule."""
        row = _ROW.match(text)
        if row is None:
            return self.close()
        key, value = row["key"].strip() or " ", row["value"].strip()
        if not value:
            self._section = key.rstrip("/ ") if key.endswith("/") else ""
        elif number := NUMBER.fullmatch(value):
            if self._record is None:
                self._record = TableRecord(line)
            name = f"{self._section}/{key}" if self._section and _is_indented(text) else key
            self._take(self._record, key, name, parse_number(number["number"]))
        else:
            self._has_words |= value[0].isalpha()
        return None

    def _take(self, record: TableRecord, key: str, name: str, value: float) -> None:
        axis, precedence = self._roles.axis_rank(key)
        if axis in _AXES and (axis not in record.axes or precedence < record.axes[axis][0]):
            record.axes[axis] = (precedence, value)
        record.values[name] = value
        record.is_certain |= self._roles.is_known(name)

    def close(self) -> TableRecord | None:
        """End the table that is being read."""
        record, self._record, self._section = self._record, None, ""
        is_settings = self._has_words and record is not None and not record.axes
        self._has_words = False
        return None if is_settings else record

    def shift(self, lines: int) -> None:
        """Keep the open record's line relative to the next feed."""
        if self._record is not None:
            self._record.line -= lines


def _is_indented(row: str) -> bool:
    return len(row) - len(row.lstrip(" |│┃")) >= _SECTION_INDENT

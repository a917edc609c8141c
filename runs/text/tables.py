"""Two-column tables, one record per table: Stable-Baselines, Baselines, Lightning's test table.

| train/          |          |
|    loss         | 0.0386   |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..roles import Roles
from .numbers import NUMBER, parse_number

_ROW = re.compile(r"^\s*[|│┃]\s*(?P<key>[^|│┃]+?)\s*[|│┃]\s*(?P<value>[^|│┃]*?)\s*[|│┃]\s*$")
_RULE = re.compile(r"^\s*[-+=_─━┄┈┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪═┏┓┗┛┡┩┳┻┃]{6,}\s*$")


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
    is_certain: bool = False


class TableReader:
    """Collects rows until a rule line closes the table."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._section = ""
        self._record: TableRecord | None = None

    def feed(self, line: int, text: str) -> TableRecord | None:
        """Take one table line; a finished record comes out at the closing rule."""
        found = _ROW.match(text)
        if found is None:
            return self.close()
        key, value = found["key"], found["value"]
        if not value:
            self._section = key.rstrip("/ ") if key.endswith("/") else ""
            return None
        number = NUMBER.fullmatch(value)
        if number is None:
            return None
        if self._record is None:
            self._record = TableRecord(line)
        raw = found[0].lstrip(" |│┃")
        is_indented = len(found[0]) - len(raw) > 3
        name = f"{self._section}/{key}" if self._section and is_indented else key
        quantity = parse_number(number["number"])
        axis, precedence = self._roles.axis_rank(key)
        if axis in ("step", "epoch", "tokens", "samples"):
            best = self._record.axes.get(axis)
            if best is None or precedence < best[0]:
                self._record.axes[axis] = (precedence, quantity)
        self._record.values[name] = quantity
        self._record.is_certain |= self._roles.is_known(name)
        return None

    def close(self) -> TableRecord | None:
        """End the table that is being read."""
        record, self._record, self._section = self._record, None, ""
        return record

    def shift(self, lines: int) -> None:
        """Keep the open record's line relative to the next feed."""
        if self._record is not None:
            self._record.line -= lines

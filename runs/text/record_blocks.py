"""Records over several lines that say last where they belong, and results of named trials.

    {'accuracy': 0.31,          Result for train_00001:
     'loss': 2.1,                 loss: 2.1
     'step': 50}                  training_iteration: 3

Read line by line the values would get the place of the record before. And what detectron2
prints to be pasted into a table, names and numbers on lines of their own:

    copypaste: Task: bbox
    copypaste: AP,AP50,AP75
    copypaste: 9.5510,31.8367,8.5959
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite

from ..roles import Roles
from .numbers import NUMBER, parse_number
from .records import scan_record
from .tables import TableRecord

_OPENS = re.compile(r"""\s*\{\s*(?:["'][\w./@% ()-]{1,80}["']\s*:\s*[^{}\[\](]{1,60},)?\s*$""")
"""`{` alone, or with the first entry behind it and more to come."""
_ENTRY = re.compile(r"""\s*(?:["'][\w./@% ()-]{1,80}["']\s*:\s*[^{}\[\](]{1,80},?\s*)?\}?,?\s*$""")
_RESULT = re.compile(r"(?:\S+ )?Result for (?P<name>[\w.=,-]{1,200}):\s*$")
_FIELD = re.compile(r"(?P<indent> +)(?P<key>[\w./@-]{1,100}):(?: (?P<value>.*))?$")
_PASTED_TASK = re.compile(r".{0,100}copypaste: Task: (?P<task>[\w-]{1,60})\s*$")
_PASTED = re.compile(r".{0,100}copypaste: (?P<cells>[^\s,]+(?:,[^\s,]+)*)\s*$")
_PASTED_LINES = 3
_MOST_LINES = 400
_AXES = ("step", "epoch")


@dataclass(frozen=True, slots=True)
class Block:
    """A record and the index of the first line behind it; neither, if it is not whole yet."""

    record: TableRecord | None = None
    end: int = 0


def may_open_record(text: str) -> bool:
    """Whether a record over several lines may begin with a line of this shape."""
    opens = (_OPENS, _RESULT, _PASTED_TASK)
    return any(pattern.match(text) is not None for pattern in opens)


@dataclass(slots=True)
class RecordBlocks:
    """Reads the records of one log and keeps the trials in it apart."""

    _roles: Roles
    _trials: list[str] = field(default_factory=list)

    @property
    def has_results(self) -> bool:
        """Results of trials were printed one by one."""
        return bool(self._trials)

    def read(self, lines: Sequence[str], index: int, *, final: bool) -> Block | None:
        """The record that begins at a line, None if lines alone tell as much."""
        result = _RESULT.match(lines[index])
        if result is not None:
            return self._read_result(result["name"], lines, index, final=final)
        task = _PASTED_TASK.match(lines[index])
        if task is not None:
            return _read_pasted(task["task"], lines, index, final=final)
        return self._read_braces(lines, index, final=final)

    def _read_braces(self, lines: Sequence[str], index: int, *, final: bool) -> Block | None:
        """Entries up to the closing brace, if a place stands behind values."""
        for end in range(index + 1, min(len(lines), index + _MOST_LINES)):
            text = lines[end]
            if not _ENTRY.match(text):
                return None
            if text.rstrip().endswith(("}", "},")):
                break
        else:
            is_short = len(lines) < index + _MOST_LINES
            return Block() if is_short and not final else None
        text = " ".join(lines[index : end + 1])
        leaves = scan_record(text, 0, len(text)) or ()
        record = TableRecord(index, is_certain=True)
        is_late = False
        for leaf in leaves:
            if leaf.value is not None and self._take(record, leaf.name, leaf.value):
                is_late |= bool(record.values)
        is_wanted = is_late and any(map(self._roles.is_known, record.values))
        return Block(record, end + 1) if is_wanted else None

    def _read_result(
        self, name: str, lines: Sequence[str], index: int, *, final: bool
    ) -> Block | None:
        """Ray's results: settings of the machine beside metrics, so only known names count."""
        record = TableRecord(index, is_certain=True)
        fields = list(_fields(lines[index + 1 : index + _MOST_LINES]))
        end = index + 1 + len(fields)
        if end >= len(lines) and not final and len(fields) < _MOST_LINES - 1:
            return Block()
        if name not in self._trials:
            self._trials.append(name)
        suffix = f" [{name}]" if self._trials[0] != name else ""
        for key, value in fields:
            number = NUMBER.fullmatch(value)
            is_place = self._roles.axis_of(key) in _AXES
            if number is not None and (is_place or self._roles.is_known(key)):
                self._take(record, key, parse_number(number["number"]), suffix)
        return Block(record, end) if record.axes and record.values else None

    def _take(self, record: TableRecord, name: str, value: float, suffix: str = "") -> bool:
        """Keep a number; True if it is a place."""
        axis, precedence = self._roles.axis_rank(name)
        if axis in _AXES:
            if axis not in record.axes or precedence < record.axes[axis][0]:
                record.axes[axis] = (precedence, value)
            return True
        record.values[name + suffix] = value
        return False


def _read_pasted(task: str, lines: Sequence[str], index: int, *, final: bool) -> Block | None:
    """Names and numbers of an evaluation; what it has no number for it calls nan."""
    if len(lines) < index + _PASTED_LINES:
        return None if final else Block()
    names, numbers = (_PASTED.match(line) for line in lines[index + 1 : index + _PASTED_LINES])
    if names is None or numbers is None:
        return None
    record = TableRecord(index, split="val", is_certain=True)
    pairs = zip(names["cells"].split(","), numbers["cells"].split(","), strict=False)
    for name, cell in pairs:
        number = NUMBER.fullmatch(cell)
        if number is not None and isfinite(value := parse_number(number["number"])):
            record.values[f"{task}/{name}"] = value
    return Block(record, index + _PASTED_LINES) if record.values else None


def _fields(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and values of indented lines, the names of those around them in front."""
    around: list[tuple[int, str]] = []
    for line in lines:
        found = _FIELD.match(line.rstrip())
        if found is None:
            return
        indent = len(found["indent"])
        while around and around[-1][0] >= indent:
            around.pop()
        yield "/".join([*(key for _, key in around), found["key"]]), (found["value"] or "").strip()
        around.append((indent, found["key"]))

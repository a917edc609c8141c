"""Whole-document JSON: `trainer_state.json`, Chainer's `log`, Keras histories and the like.

The writer rewrites such a file as a whole, so a document that does not parse yet is simply
not finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ..errors import FormatError
from ..harvest import Harvest
from ..roles import shipped
from .format import Reader
from .json_text import object_lines, parse_json, parse_json_head
from .records import RecordCollector, as_number, flatten
from .training_names import training_likeness

HISTORY_KEY = "log_history"
GENERIC_KEYS = {HISTORY_KEY, "history", "log", "logs", "records", "metrics", "results", "data"}
"""Keys that say nothing about the values under them, so they are left out of names."""
CONFIG_KEYS = {"config", "args", "params", "hparams", "hyperparameters", "settings"}
SURE = 0.5
_SAMPLE = 50


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document that holds measurements."""

    prefix: str
    records: Sequence[Mapping[str, object]] = ()
    series: Mapping[str, Sequence[object]] | None = None

    def rows(self) -> Iterator[dict[str, float]]:
        """The numeric fields of each row, in order."""
        if self.series is None:
            for record in self.records:
                fields = flatten(record)
                yield (
                    {f"{self.prefix}{name}": v for name, v in fields.items()}
                    if self.prefix
                    else fields
                )
            return
        names = [f"{self.prefix}{name}" for name in self.series]
        for cells in zip_longest(*self.series.values()):
            numbers = ((name, as_number(cell)) for name, cell in zip(names, cells, strict=True))
            yield {name: number for name, number in numbers if number is not None}

    def likeness(self) -> float:
        """How much (0..1) its fields look like a training log."""
        if self.series is not None:
            return 0.8 if any(shipped().is_outcome(name) for name in self.series) else 0.0
        names: dict[str, None] = {}
        for record in self.records[:_SAMPLE]:
            names.update(dict.fromkeys(flatten(record)))
        return training_likeness(list(names))


def find_sections(document: object) -> list[Section]:
    """The parts of a document that look like measurements of a training run."""
    return [part for part in _parts(document, "", 0) if part.likeness() >= SURE]


def _parts(value: object, prefix: str, depth: int) -> Iterator[Section]:
    if isinstance(value, list):
        records = [item for item in value if isinstance(item, dict)]
        if records and len(records) == len(value):
            yield Section(prefix, records)
    elif isinstance(value, dict):
        series = {k: v for k, v in value.items() if _is_series(v)}
        if series:
            yield Section(prefix, series=series)
        for key, inner in value.items():
            is_settings = key.lower() in CONFIG_KEYS
            if depth < 2 and key not in series and not is_settings:
                yield from _parts(inner, _inner_prefix(prefix, key), depth + 1)


def _inner_prefix(prefix: str, key: str) -> str:
    return prefix if key.lower() in GENERIC_KEYS else f"{prefix}{key}/"


def _is_series(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    sample = value[:_SAMPLE]
    numbers = sum(as_number(item) is not None for item in sample)
    return numbers > 0 and all(item is None or as_number(item) is not None for item in sample)


class JsonDocumentReader:
    """Reads a document once it is complete."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_read = False
        self._is_inside_line = False

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the document if `data` holds all of it; else ask for more."""
        body = data.strip()
        if self._is_read or (final and not body):
            return self._count_lines(data, Harvest(consumed=len(data)), final)
        if not final and not body.endswith((b"}", b"]")):
            return Harvest()
        try:
            document = parse_json(data.removeprefix(b"\xef\xbb\xbf"))
        except ValueError as problem:
            if not final:
                return Harvest()
            raise FormatError(
                f"{self._path} is not a complete JSON document ({problem})",
                hint="its writer was interrupted; an earlier checkpoint may hold a complete copy",
            ) from None
        self._is_read = True
        found = RecordCollector()
        _add_settings(document, found)
        lines = _lines_by_list(document, data)
        for section in find_sections(document):
            numbers = lines.get(id(section.records[0]) if section.records else 0, [])
            for index, fields in enumerate(section.rows()):
                found.add_fields(numbers[index] if index < len(numbers) else 1, fields)
        return self._count_lines(data, found.harvest(lines=0, consumed=len(data)), final)

    def _count_lines(self, data: bytes, found: Harvest, final: bool) -> Harvest:
        if data:
            self._is_inside_line = not data.endswith(b"\n")
        found.lines = data.count(b"\n") + (final and self._is_inside_line)
        return found


def _add_settings(document: object, found: RecordCollector) -> None:
    if not isinstance(document, dict):
        return
    for key, value in document.items():
        if isinstance(value, str | int | float | bool):
            found.config[key] = value
            axis = shipped().total_of(key)
            number = as_number(value)
            if axis is not None and number is not None and number > 0:
                found.totals[axis] = number
        elif key.lower() in CONFIG_KEYS and isinstance(value, dict):
            found.config.update({str(name): setting for name, setting in value.items()})


def _lines_by_list(document: object, data: bytes) -> dict[int, list[int]]:
    """Identity of the first object in a list to the lines where the list's objects begin."""
    if b"\n" not in data.strip():
        return {}
    lists: list[int] = []
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            first = next((item for item in value if isinstance(item, dict)), None)
            if first is not None:
                lists.append(id(first))
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
    lines = object_lines(data)
    # They differ if a key is given twice: then the lines are not known.
    return dict(zip(lists, lines, strict=True)) if len(lists) == len(lines) else {}


class JsonDocumentFormat:
    """JSON files that hold a whole training history as one document."""

    name = "json"
    is_snapshot = True

    def sniff(self, head: bytes, path: str) -> float:
        """A document, whole or cut, with records or lists of training metrics in it."""
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not text.startswith((b"{", b"[")):
            return 0.0
        try:
            document, rest = parse_json_head(text)
        except ValueError:
            return 0.0
        if rest.strip():
            return 0.0  # one value per line, or something else altogether
        if isinstance(document, dict) and isinstance(document.get(HISTORY_KEY), list):
            return 0.98
        return max((part.likeness() for part in find_sections(document)), default=0.0)

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return JsonDocumentReader(path)

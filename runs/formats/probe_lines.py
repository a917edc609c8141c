"""Files of the probe: a header that names layers, then one record a line with arrays of numbers.

Columns are named `grad_norm/<layer>`, `weight_norm/<layer>`, `update_ratio/<layer>` and
`act_<statistic>/<module>`; the first values that are not finite become events that name the layer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..event import Event, EventKind
from ..harvest import Column, ColumnKey, Floats, Harvest
from ..settings import current
from .format import Reader
from .json_text import parse_json
from .probe_events import event_of, events_of_header
from .probe_model import statements_of
from .records import as_number

_HEADER = re.compile(rb'\s*\{\s*"mltd_probe"\s*:\s*\d')
BY_LAYER = ("grad_norm", "weight_norm", "update_ratio")
BY_MODULE = ("act_mean", "act_std", "act_unit_std", "act_zero", "act_dead", "act_saturated")
_TOTALS = ("grad_norm", "weight_norm", "update_ratio")
_MOST_NAMES = 100_000


class ProbeReader:
    """Reads records as they are written."""

    def __init__(self) -> None:
        self._layers: list[str] = []
        self._keys: dict[str, list[ColumnKey]] = {}
        """A key for each place of an array; made once, since roles are looked up for each."""
        self._rank = 0
        self._has_been_bad: set[tuple[str, str]] = set()

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read all complete lines; a last one that was cut off counts only if it is whole."""
        end = len(data) if final else data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        table = _Table()
        harvest = Harvest(lines=len(lines), consumed=end)
        offset = 0
        for number, line in enumerate(lines, start=1):
            self._read(line, number, offset, table, harvest)
            offset += len(line) + 1
        table.fill(harvest)
        return harvest

    def _read(self, line: bytes, number: int, offset: int, table: _Table, into: Harvest) -> None:
        try:
            record = parse_json(line)
        except ValueError:
            return  # the writer was killed in the middle of it
        if not isinstance(record, dict):
            return
        kind = record.get("kind")
        if kind == "header":
            self._take_header(record, number, into)
            found = events_of_header(record)
        elif kind == "step":
            self._take_step(record, number, table)
            found = event_of(record, self._has_been_bad)
        elif kind == "end" and record.get("reason") not in (None, "closed"):
            said = f"the probe stopped recording: {_text(record.get('reason'))}"
            found = [(EventKind.WARNING, said, "")]
        else:
            return
        for event_kind, title, message in found:
            event = Event(event_kind, title, number, offset, text=title, message=message)
            into.events.append(event)

    def _take_header(self, header: Mapping[str, object], line: int, into: Harvest) -> None:
        self._layers = _names(header.get("layers"))
        modules = _names(header.get("modules"))
        rank = as_number(header.get("rank"))
        self._rank = int(rank) if rank is not None and math.isfinite(rank) else 0
        self._keys = {kind: _keys(kind, self._layers, None) for kind in BY_LAYER}
        self._keys |= {kind: _keys(kind, modules, self._rank or None) for kind in BY_MODULE}
        if self._rank == 0:
            into.statements.extend(statements_of(header, self._layers, line))

    def _take_step(self, record: Mapping[str, object], line: int, table: _Table) -> None:
        step, moment = as_number(record.get("step")), as_number(record.get("time"))
        table.add_row(line, step, moment)
        # Gradients and weights are the same on all ranks: those of the first are enough.
        if self._rank == 0:
            for kind in BY_LAYER:
                values = _list(record.get(kind))
                if kind == "grad_norm":
                    values = _with_zeros(values, _list(record.get("no_grad")), len(self._layers))
                table.add(self._keys.get(kind, []), values)
            totals = record.get("total")
            if isinstance(totals, dict):
                for kind in _TOTALS:
                    table.add_one(ColumnKey(kind), totals.get(kind))
            self._take_rates(_list(record.get("lr")), table)
        rank = self._rank or None
        for kind in BY_MODULE:
            table.add(self._keys.get(kind, []), _list(record.get(kind)))
        table.add_one(ColumnKey("loss_scale", rank), record.get("loss_scale"))
        memory = record.get("memory")
        if isinstance(memory, dict):
            for name, value in list(memory.items())[:8]:
                table.add_one(ColumnKey(f"memory/{_text(name)}", rank, unit="B"), value)

    def _take_rates(self, rates: Sequence[object], table: _Table) -> None:
        if rates:
            table.add_one(ColumnKey("lr"), rates[0])
        for number, rate in enumerate(rates[1:], start=1):
            if rate != rates[0]:
                table.add_one(ColumnKey(f"lr/group{number}"), rate)


class _Table:
    """Rows and columns of one stretch of a file."""

    def __init__(self) -> None:
        self._lines: list[int] = []
        self._axes: dict[str, list[float]] = {"step": [], "time": []}
        self._columns: dict[ColumnKey, tuple[list[int], list[float]]] = {}

    def add_row(self, line: int, step: float | None, moment: float | None) -> None:
        """Begin a record."""
        self._lines.append(line)
        for axis, value in (("step", step), ("time", moment)):
            is_known = value is not None and 0 <= value < math.inf
            self._axes[axis].append(value if is_known and value is not None else math.nan)

    def add(self, keys: Sequence[ColumnKey], values: Sequence[object]) -> None:
        """Values of the layers of these keys."""
        for key, value in zip(keys, values, strict=False):
            if value is not None:
                self.add_one(key, value)

    def add_one(self, key: ColumnKey, value: object) -> None:
        """A value of the current record."""
        measured = as_number(value)
        if measured is None:
            return
        rows, values = self._columns.setdefault(key, ([], []))
        rows.append(len(self._lines) - 1)
        values.append(measured)

    def fill(self, harvest: Harvest) -> None:
        """Hand everything over."""
        harvest.line = np.array(self._lines, dtype=np.int64)
        for axis, values in self._axes.items():
            coordinates: Floats = np.array(values, dtype=np.float64)
            if np.isfinite(coordinates).any():
                harvest.axes[axis] = coordinates
        harvest.columns = [
            Column(key, np.array(rows, dtype=np.int64), np.array(values, dtype=np.float64))
            for key, (rows, values) in self._columns.items()
        ]


def _keys(kind: str, layers: Sequence[str], rank: int | None) -> list[ColumnKey]:
    return [ColumnKey(column_name(kind, layer), rank, layer=layer) for layer in layers]


def column_name(kind: str, layer: str) -> str:
    """The name of a layer's column; one that would read as something else says what it is."""
    name = f"{kind}/{layer}"
    # A module called `loss` is no loss, whatever its name looks like.
    return name if current().roles.role_of(name) is None else f"{name} (layer)"


def _with_zeros(values: Sequence[object], places: Sequence[object], size: int) -> list[object]:
    """Layers that wanted a gradient and got none have a gradient of 0."""
    filled = [*values, *([None] * (size - len(values)))]
    for place in places:
        if isinstance(place, int) and 0 <= place < size and filled[place] is None:
            filled[place] = 0.0
    return filled


def _list(value: object) -> list[object]:
    return value[:_MOST_NAMES] if isinstance(value, list) else []


def _names(value: object) -> list[str]:
    return [_text(name) for name in _list(value)]


def _text(value: object) -> str:
    return str(value)[:300] if value is not None else ""


class ProbeFormat:
    """Recordings of `mltd.runs.probe`."""

    name = "probe"
    is_snapshot = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure if the first record is the header."""
        return 1.0 if _HEADER.match(head) else 0.0

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return ProbeReader()

"""Offline runs of Weights & Biases: the history, config and exit code in a `.wandb` file."""

from __future__ import annotations

import json
import struct

import orjson

from ..event import Event, EventKind
from ..harvest import ColumnKey, Harvest
from .format import Reader
from .protobuf import WireError, as_bytes, as_signed, as_text, iter_fields
from .records import RecordCollector, flatten
from .wandb_log import FILE_HEADER_BYTES, MAGIC, WandbLog

# Field numbers of W&B's Record message.
_HISTORY, _CONFIG, _STATS, _RUN, _EXIT = 2, 5, 7, 17, 18
_KEY, _NESTED_KEY, _VALUE_JSON = 1, 2, 16
_RUN_FACTS = {1: "run_id", 3: "project", 6: "group", 7: "job_type", 8: "name", 13: "host"}


class WandbReader:
    """Reads a `.wandb` file record by record."""

    def __init__(self) -> None:
        self._log = WandbLog()
        self._record = 0  # in this feed

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete records in `data`."""
        found = RecordCollector()
        self._record = 0
        start = self._log.position

        def on_record(record: bytes) -> None:
            self._record += 1
            try:
                self._read_record(record, found)
            except (WireError, struct.error):
                found.warn("a damaged record was skipped", self._record)

        def on_damage(offset: int) -> None:
            title = "damaged bytes in the .wandb file were skipped"
            found.warn(title, self._record + 1, offset - start)

        used = self._log.read(data, on_record, on_damage)
        return found.harvest(lines=self._record, consumed=len(data) if final else used)

    def _read_record(self, record: bytes, found: RecordCollector) -> None:
        for number, raw in iter_fields(record):
            if number == _HISTORY:
                self._read_history(as_bytes(raw), found)
            elif number == _CONFIG:
                found.config.update(_read_config(as_bytes(raw)))
            elif number == _STATS:
                self._read_stats(as_bytes(raw), found)
            elif number == _RUN:
                _read_run(as_bytes(raw), found)
            elif number == _EXIT:
                self._read_exit(as_bytes(raw), found)

    def _read_history(self, history: bytes, found: RecordCollector) -> None:
        fields: dict[str, float] = {}
        step: int | None = None
        for number, raw in iter_fields(history):
            if number == 1:
                name, value = _read_item(as_bytes(raw))
                fields.update(flatten({name: value}, separator=".", depth=4))
            elif number == 2:
                step = next((as_signed(v) for n, v in iter_fields(as_bytes(raw)) if n == 1), 0)
        if step is not None:
            fields.setdefault("_step", float(step))
        found.add_fields(self._record, fields)

    def _read_stats(self, stats: bytes, found: RecordCollector) -> None:
        """System metrics: sampled by time, so they have no step of their own."""
        points: list[tuple[ColumnKey, float]] = []
        seconds = 0
        for number, raw in iter_fields(stats):
            if number == 3:
                name, value = _read_item(as_bytes(raw))
                numbers = flatten({f"system/{name}": value})
                points.extend((ColumnKey(key), number) for key, number in numbers.items())
            elif number == 2:
                seconds = next((as_signed(v) for n, v in iter_fields(as_bytes(raw)) if n == 1), 0)
        if points:
            found.add(self._record, points, {"time": float(seconds)} if seconds > 0 else {})

    def _read_exit(self, exited: bytes, found: RecordCollector) -> None:
        code = next((as_signed(raw) for number, raw in iter_fields(exited) if number == 1), 0)
        kind = EventKind.SCHEDULER if code else EventKind.FINISHED
        title = f"the process exited with exit code {code}" if code else "the run finished"
        found.events.append(Event(kind, title, self._record, text=title))


def _read_run(run: bytes, found: RecordCollector) -> None:
    for number, raw in iter_fields(run):
        if number == 4:
            found.config.update(_read_config(as_bytes(raw)))
        elif number in _RUN_FACTS and (fact := as_text(raw)):
            found.config[f"wandb/{_RUN_FACTS[number]}"] = fact


def _read_config(config: bytes) -> dict[str, object]:
    items = [_read_item(as_bytes(raw)) for number, raw in iter_fields(config) if number == 1]
    return {name: value for name, value in items if name and name != "_wandb"}


def _read_item(item: bytes) -> tuple[str, object]:
    name, nested, text = "", [], b"null"
    for number, raw in iter_fields(item):
        if number == _KEY:
            name = as_text(raw)
        elif number == _NESTED_KEY:
            nested.append(as_text(raw))
        elif number == _VALUE_JSON:
            text = as_bytes(raw)
    return name or ".".join(nested), _parse_json(text)


def _parse_json(text: bytes) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text)  # unlike orjson it knows NaN and Infinity
    except (ValueError, RecursionError):
        return None


class WandbFormat:
    """`.wandb` files of W&B runs, offline or not."""

    name = "wandb"
    is_snapshot = False

    def sniff(self, head: bytes, path: str) -> float:
        """The magic bytes."""
        if len(head) < FILE_HEADER_BYTES:
            return 0.1 if not head and path.endswith(".wandb") else 0.0
        return 1.0 if head.startswith(MAGIC) else 0.0

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return WandbReader()

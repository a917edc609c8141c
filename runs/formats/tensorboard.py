"""TensorBoard event files: scalars, and the hyperparameters written beside them."""

from __future__ import annotations

import math
import re
import struct

from ..event import Event, EventKind
from ..harvest import ColumnKey, Harvest
from .axis_names import axis_of, unix_seconds
from .format import Reader
from .protobuf import WireError, as_bytes, as_floating, as_signed, iter_fields
from .records import RecordCollector
from .tensorboard_values import Value, read_hparams, read_lone_scalar, read_text_config, read_value
from .tfrecord import FOOTER_BYTES, HEADER_BYTES, find_record, record_length

_FILE_TIME = re.compile(r"tfevents\.(\d{9,11})(?:\.|$)")
_SESSION_START = 1


class TensorBoardReader:
    """Reads an event file record by record."""

    def __init__(self, path: str) -> None:
        started = _FILE_TIME.search(path)
        self._started = float(started.group(1)) if started else math.nan
        self._record = 0  # in this feed
        self._is_lost = False
        self._keys: dict[str, ColumnKey] = {}
        self._epoch_tags: set[str] = set()
        self._ignored: set[str] = set()

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete records in `data`."""
        found = RecordCollector()
        self._record = position = 0
        while len(data) - position >= HEADER_BYTES:
            length = record_length(data, position)
            if length is None:
                position = self._skip_damage(data, position, found)
                continue
            self._is_lost = False
            start = position + HEADER_BYTES
            if start + length + FOOTER_BYTES > len(data):
                break
            self._record += 1
            try:
                self._read_event(data[start : start + length], found)
            except (WireError, struct.error):
                found.warn("a damaged event was skipped", self._record, position)
            position = start + length + FOOTER_BYTES
        if final:
            position = len(data)
        return found.harvest(lines=self._record, consumed=position)

    def _skip_damage(self, data: bytes, position: int, found: RecordCollector) -> int:
        """The position of the next sound record, or of the bytes that may begin one."""
        if not self._is_lost:
            self._is_lost = True
            title = "damaged bytes in the event file were skipped"
            found.warn(title, self._record + 1, position)
        following = find_record(data, position + 1)
        return len(data) - HEADER_BYTES + 1 if following is None else following

    def _read_event(self, event: bytes, found: RecordCollector) -> None:
        lone = read_lone_scalar(event)
        if lone is not None and lone.tag not in self._ignored:
            axes = {"step": float(lone.step), "time": self._moment(lone.wall_time)}
            self._add_points([(self._key(lone.tag), lone.number)], axes, found)
            return
        wall_time, step = math.nan, 0
        values: list[Value] = []
        for number, raw in iter_fields(event):
            if number == 5:
                values.extend(
                    read_value(as_bytes(inner)) for n, inner in iter_fields(as_bytes(raw)) if n == 1
                )
            elif number == 1:
                wall_time = as_floating(raw)
            elif number == 2:
                step = as_signed(raw)
            elif number == 7:
                self._read_session(as_bytes(raw), step, found)
        points = [
            (self._key(value.tag), value.number) for value in values if self._is_scalar(value)
        ]
        if points:
            axes = {"step": float(step), "time": self._moment(wall_time)}
            self._add_points(points, axes, found)
        for value in values:
            if value.plugin == "hparams":
                found.config.update(read_hparams(value.content))
            elif value.text:
                found.config.update(read_text_config(value))

    def _add_points(
        self,
        points: list[tuple[ColumnKey, float]],
        axes: dict[str, float],
        found: RecordCollector,
    ) -> None:
        for key, value in points:
            if key.name in self._epoch_tags and 0 <= value < math.inf:
                axes["epoch"] = value
        found.add(self._record, points, axes)

    def _key(self, tag: str) -> ColumnKey:
        key = self._keys.get(tag)
        if key is None:
            key = self._keys[tag] = ColumnKey(tag)
            if axis_of(tag) == "epoch":
                self._epoch_tags.add(tag)
        return key

    def _is_scalar(self, value: Value) -> bool:
        if value.plugin and value.plugin != "scalars":
            self._ignored.add(value.tag)
        return value.has_number and value.tag not in self._ignored

    def _moment(self, wall_time: float) -> float:
        moment = unix_seconds(wall_time)
        # Some writers log seconds since the start; the file's name holds the start.
        return moment if moment == moment else self._started + wall_time

    def _read_session(self, log: bytes, step: int, found: RecordCollector) -> None:
        status = next((as_signed(raw) for number, raw in iter_fields(log) if number == 1), 0)
        if status == _SESSION_START and self._keys:
            title = f"a new session began at step {step}"
            found.events.append(
                Event(EventKind.RESTART, title, self._record, step=float(step), text=title)
            )


class TensorBoardFormat:
    """TensorBoard event files."""

    name = "tensorboard"
    is_snapshot = False

    def sniff(self, head: bytes, path: str) -> float:
        """A first record whose length passes its checksum."""
        if len(head) < HEADER_BYTES:
            return 0.1 if not head and "tfevents" in path else 0.0
        length = record_length(head, 0)
        if length is None:
            return 0.0
        try:
            event = head[HEADER_BYTES : HEADER_BYTES + length]
            if len(event) == length:
                numbers = {number for number, _ in iter_fields(event)}
                return 1.0 if 1 in numbers and max(numbers) < 20 else 0.0
        except WireError:
            return 0.0
        return 0.9

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return TensorBoardReader(path)

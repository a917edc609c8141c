"""Writes records, one line at a time, into a file that stays small.

The file is opened for each record: no descriptor is shared with a forked worker, and what is
written is seen by other nodes. Half of the room is used at the full rate, half of what is left at
half of it, and so on, until not one record more has room.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping

MAGIC = "mltd_probe"
SCHEMA = 1
_SPARE = 4096
"""Bytes kept for the last record, which says why the file ends."""


class NotAProbeFileError(ValueError):
    """There is a file of somebody else at this place."""


class FullError(OSError):
    """The file has reached its size."""


class Writer:
    """One probe file."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._header = b""
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        # Made at once, so that a path that cannot be written is noticed when training starts.
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self.used = os.fstat(descriptor).st_size
            begin = os.pread(descriptor, 64, 0)
            is_whole = not self.used or os.pread(descriptor, 1, self.used - 1) == b"\n"
        finally:
            os.close(descriptor)
        if begin and not begin.startswith(f'{{"{MAGIC}":'.encode()):
            raise NotAProbeFileError(f"{path} exists and is not a probe file; give another path")
        self._mends = not is_whole
        """The last line was cut off when its writer was killed."""

    @property
    def has_header(self) -> bool:
        """True when this process has said what its arrays stand for."""
        return bool(self._header)

    @property
    def thinning(self) -> int:
        """How many times fewer records to write than asked for."""
        left = 1.0 - self.used / (self._max_bytes - _SPARE)
        return 1 if left > 0.5 else 2 ** min(20, int(-math.log2(max(left, 1e-6))))

    def write_header(self, header: Mapping[str, object]) -> None:
        """Begin the file, or go on with it where an earlier process stopped."""
        self._header = _line({MAGIC: SCHEMA, "kind": "header", **header})
        self._check_room(len(self._header))
        self._append(self._header)

    def write(self, record: Mapping[str, object], *, is_last: bool = False) -> None:
        """Append a record; FullError if there is no room left for it."""
        line = _line(record)
        self._check_room(len(line) + (0 if is_last else _SPARE))
        self._append(line)

    def _check_room(self, size: int) -> None:
        if self.used + size > self._max_bytes:
            raise FullError(f"{self.path} has reached its size of {self._max_bytes} bytes")

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o644)
        try:
            if os.fstat(descriptor).st_size == 0 and line != self._header:
                line = self._header + line  # somebody moved or emptied the file
                self.used = 0
            if self._mends:
                line, self._mends = b"\n" + line, False
            while line:
                written = os.write(descriptor, line)
                self.used += written
                line = line[written:]
        finally:
            os.close(descriptor)


def number(value: float | None, digits: int = 6) -> float | str | None:
    """A number as JSON has it: words for what is not finite, few digits for the rest."""
    if value is None:
        return None
    if math.isfinite(value):
        return float(f"{value:.{digits}g}")
    return "nan" if value != value else ("inf" if value > 0 else "-inf")


def _line(record: Mapping[str, object]) -> bytes:
    text = json.dumps(record, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.encode() + b"\n"

"""Two columns of numbers and nothing else: a counter and what was measured, as `loss.txt` has them.

What it is, only the name of the file can say.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePath

import numpy as np

from ..harvest import Column, ColumnKey, Harvest
from ..roles import shipped
from .format import Reader
from .tabular_cells import read_number

_LINE = re.compile(rb"\s*(\d{1,15})[ \t,;]+([-+.\w]{1,40})\s*")
_LEAST = 5
_LOOKED_AT = 200


class BareColumnsReader:
    """Reads lines of `step value`."""

    def __init__(self, name: str) -> None:
        self._key = ColumnKey(name)

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete lines in `data`."""
        end = len(data) if final else data.rfind(b"\n") + 1
        pieces = data[:end].split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        rows = [(number, row) for number, piece in enumerate(pieces, 1) if (row := _row(piece))]
        lines = np.array([number for number, _ in rows], dtype=np.int64)
        found = Harvest(lines, lines=len(pieces), consumed=end)
        if rows:
            found.axes = {"step": np.array([step for _, (step, _) in rows])}
            values = np.array([value for _, (_, value) in rows])
            found.columns = [Column(self._key, np.arange(len(rows), dtype=np.int64), values)]
        return found


class BareColumnsFormat:
    """A counter and a value in each line."""

    name = "columns"
    is_snapshot = False

    def sniff(self, head: bytes, path: str) -> float:
        """Nothing but pairs of which the first counts, in a file whose name tells of what.

        What a program prints to its standard output may end with a traceback: that is text.
        """
        if not shipped().role_of(_subject(path)):
            return 0.0
        lines = [line for line in head.split(b"\n")[:_LOOKED_AT] if line.strip()]
        lines = lines if head.endswith(b"\n") or len(lines) < 2 else lines[:-1]
        steps = [row[0] for line in lines if (row := _row(line))]
        counts = all(later > earlier for earlier, later in pairwise(steps))
        if len(lines) < _LEAST or len(steps) < len(lines) or not counts:
            return 0.0
        return 0.7

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return BareColumnsReader(_subject(path))


def _subject(path: str) -> str:
    return PurePath(path).name.partition(".")[0]


def _row(line: bytes) -> tuple[float, float] | None:
    matched = _LINE.fullmatch(line)
    value = read_number(matched[2].decode("ascii", "replace")) if matched else None
    return (float(matched[1]), value) if matched and value is not None else None

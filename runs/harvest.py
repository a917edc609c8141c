"""What a reader takes from a stretch of bytes: rows, columns, events, config.

A *row* is one record of the log (usually one line). Its coordinates (step, epoch, ...)
are shared by all the columns that have a value in it, so a line with ten metrics stores
its step once. NaN in a coordinate means "this record did not say"; the run fills it in
from the records before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .event import Event
from .statements import Statement

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

AXES = ("step", "epoch", "tokens", "samples", "time")
"""Coordinates a row can have, best x-axis first; `time` is seconds since the epoch.

A harvest may also have `inner` and `inner total`, an iteration inside its epoch and how many
there are: the run derives a step from them.
"""


@dataclass(frozen=True, slots=True)
class ColumnKey:
    """Identity of a series inside one file."""

    name: str
    """The raw name as logged, with its context ("DEV loss")."""
    rank: int | None = None
    unit: str = ""
    split: str = ""
    """"train", "val" or "test" where the surroundings of the value say so."""
    level: str = ""
    """"step" or "epoch" where the head of the line counts in those."""
    layer: str = ""
    """The layer of a model that it measures, where the file says so."""


@dataclass(slots=True)
class Column:
    """Values of one series in a harvest; `rows` are indices into the harvest's rows."""

    key: ColumnKey
    rows: Ints
    values: Floats
    is_certain: bool = True
    """False if only repetition with changing values would make this a metric."""


def _no_rows() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(slots=True)
class Harvest:
    """Everything found in one stretch of one file, in file order."""

    line: Ints = field(default_factory=_no_rows)
    """1-based line (or record) number of every row, counted from the first line of this feed;
    zero or less for a record that began in an earlier feed."""
    axes: dict[str, Floats] = field(default_factory=dict)
    """Axis name to one value per row; an absent axis is all NaN."""
    columns: list[Column] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """Lines relative like `line`; `step` is filled in by the run."""
    statements: list[Statement] = field(default_factory=list)
    """Facts that were stated, lines relative like `line`."""
    config: Mapping[str, object] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    """Planned totals seen in fractions: {"step": 1000, "epoch": 20}."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How much was left out beyond which limit; keys are those of `limits.LeftOut`."""
    lines: int = 0
    """Complete lines (or records) consumed."""
    consumed: int = 0
    """Bytes consumed; what is left must be fed again in front of the next bytes."""

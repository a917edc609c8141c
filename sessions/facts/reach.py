"""How far a run came: from where to where, on what it counts in, and from when to when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series

from .clock import moment_of_row


@dataclass(frozen=True, slots=True)
class Reach:
    """Unknown is None; the axis is step or epoch, or whatever else a run may count in."""

    axis: str = "step"
    first: float | None = None
    last: float | None = None
    began: datetime | None = None
    ended: datetime | None = None


def main_series(run: Run) -> Series | None:
    """The series that tells best how a run went: the training loss, else the fullest."""
    named = [s for s in run.series if len(s) and not (s.role or "").startswith("axis/")]
    return max(named, key=lambda s: (s.role == "train/loss", len(s)), default=None)


def reach_of(run: Run) -> Reach:
    """By the records of the file that has most to say."""
    main = main_series(run)
    source = max(run.files, key=lambda one: len(one.coordinates), default=None)
    if main is not None:
        source = run.files[main.file]
    if source is None or len(source.coordinates) == 0:
        return Reach()
    rows = source.coordinates
    axis, first, last = _ends(source)
    return Reach(axis, first, last, moment_of_row(rows, 0), moment_of_row(rows, len(rows) - 1))


def _ends(source: SourceFile) -> tuple[str, float | None, float | None]:
    for axis in ("step", "epoch", "tokens", "samples"):
        column = source.coordinates.axes.get(axis)
        if column is None:
            continue
        known = column.view()[np.isfinite(column.view())]
        if len(known):
            return axis, float(known[0]), float(known[-1])
    return "index", None, None

"""Runs made for tests of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mltd.runs.event import Event
from mltd.runs.harvest import Column, ColumnKey, Harvest
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series

Values = Sequence[float]


def make_run(series: Mapping[str, Values], name: str = "made", **axes: Values) -> Run:
    """A finished run with these metrics in every row; its steps count from 0 unless given."""
    run = Run(name)
    run.is_over = True
    run.add_file(SourceFile("logs/made.log"))
    extend(run, series, (), 0, **axes)
    return run


def extend(
    run: Run,
    series: Mapping[str, Values],
    events: Sequence[Event] = (),
    file: int = 0,
    **axes: Values,
) -> None:
    """Add rows, one in each line; lines of events count from the first of them."""
    count = max((len(values) for values in series.values()), default=0)
    before = len(run.files[file].coordinates)
    given = axes or {"step": range(before, before + count)}
    run.append(
        file,
        Harvest(
            line=np.arange(1, count + 1),
            axes={axis: np.asarray(x, dtype=np.float64) for axis, x in given.items()},
            columns=[
                Column(ColumnKey(name), np.arange(len(values)), np.asarray(values, dtype=float))
                for name, values in series.items()
            ],
            events=list(events),
            lines=count,
        ),
    )


def series_of(run: Run, name: str, file: int = 0) -> Series:
    """One of its metrics."""
    found = run.find(file, name)
    assert found is not None
    return found

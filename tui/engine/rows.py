"""One line of the run picker, from whatever is known about a run so far."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np

from mltd.analyzers.core.glance import Glance
from mltd.runs.discovery import Purpose, RunFiles
from mltd.runs.name_text import escape_undecodable
from mltd.runs.remote.names import url_of
from mltd.runs.run import Run

from .protocol import Health, RunRow

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.runs.harvest import Floats

TREND_POINTS = 24
MOST_LOGS = 4
_LOSSES = ("train/loss", "val/loss", "test/loss")
"""What stands for the loss, the first that is logged."""


def make_row(
    number: int,
    files: RunFiles,
    run: Run | None,
    diagnosis: Diagnosis | None,
    is_open: bool,
    *,
    problem: str = "",
    now: float | None = None,
) -> RunRow:
    """The row of a run; without a run, of one that is still to be read.

    A row without a state is being read; `problem` is a sentence about files that cannot be.
    """
    modified = _newest(files)
    if run is None:
        is_hopeless = bool(problem) or not files.is_readable
        sentence = problem or ("" if files.is_readable else "no log and no metrics to read")
        return RunRow(
            number,
            files.name,
            url_of(files.root),
            state="unknown" if is_hopeless else "",
            headline=sentence,
            modified=modified,
            is_open=is_open,
            logs=_logs(files),
        )
    view = Glance(run)
    view.moment = now
    loss = next((one for role in _LOSSES if (one := view.primary(role)) is not None), None)
    values = loss.values if loss is not None else np.empty(0)
    return RunRow(
        number,
        files.name,
        url_of(files.root),
        state=view.state.value,
        step=_reached(run, "step"),
        total_steps=_plain(run.totals.get("step")),
        epoch=_reached(run, "epoch"),
        total_epochs=_plain(run.totals.get("epoch")),
        last_loss=float(values[-1]) if len(values) else None,
        trend=trend(values),
        health=health(diagnosis),
        headline=problem or _headline(run, diagnosis),
        modified=modified,
        is_open=is_open,
        logs=_logs(files),
    )


def health(diagnosis: Diagnosis | None) -> Health:
    """The worst that was found, in one word."""
    if diagnosis is None:
        return Health.UNKNOWN
    worst = max((f.severity for f in diagnosis.findings), key=lambda s: s.rank, default=None)
    if worst is not None:
        return Health(worst.value)
    return Health.UNKNOWN if diagnosis.status == "no_metrics" else Health.FINE


def trend(values: Floats, points: int = TREND_POINTS) -> tuple[float, ...]:
    """A long series in a few means; NaN where it holds anything that is not finite."""
    count = len(values)
    if not count:
        return ()
    starts = np.linspace(0, count, min(points, count) + 1)[:-1].astype(np.int64)
    # One NaN makes the sum of its stretch NaN, and so does a pair of infinities.
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.add.reduceat(values, starts) / np.diff(starts, append=count)
    return tuple(np.where(np.isfinite(means), means, np.nan).tolist())


def _logs(files: RunFiles) -> tuple[str, ...]:
    paths = files.paths(Purpose.LOG, Purpose.METRICS)[:MOST_LOGS]
    # As a session writes them down: names may hold bytes that are no text.
    named = (url_of(os.path.abspath(path)) for path in paths)
    return tuple(map(escape_undecodable, named))


def _headline(run: Run, diagnosis: Diagnosis | None) -> str:
    if diagnosis is not None and diagnosis.findings:
        return max(diagnosis.findings, key=lambda finding: finding.severity.rank).title
    note = next((source.notice for source in run.files if source.notice), "")
    if note:
        return note
    is_empty = diagnosis is not None and diagnosis.status == "no_metrics"
    return "no metrics found" if is_empty else ""


def _reached(run: Run, axis: str) -> float | None:
    """The newest place on an axis, in whichever file is furthest."""
    columns = [source.coordinates.axes.get(axis) for source in run.files]
    last = [float(column.view()[-1]) for column in columns if column is not None and len(column)]
    return max((value for value in last if math.isfinite(value)), default=None)


def _plain(value: float | None) -> float | None:
    return None if value is None else float(value)


def _newest(files: RunFiles) -> float | None:
    paths = files.paths(Purpose.LOG, Purpose.METRICS) or files.paths(*Purpose)
    moments = []
    for path in paths:
        try:
            moments.append(os.stat(path).st_mtime)
        except (OSError, ValueError):
            continue
    return max(moments, default=None)

"""The `run` object of the JSON contract: a run in numbers, nothing made up."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Mapping, Sequence

import numpy as np

from .event import Event, EventKind
from .job_word import is_alive, last_written, speaking_job, with_job
from .open_artifact import open_artifact_file
from .run import Run, SourceFile
from .series import Series
from .state import LONG_AGO, Progress, RunState, combine_states, infer_state

MAX_DEPTH = 8
_AT_EXIT = ("wandb ",)
"""Beginnings of names that a tracker prints when the process ends, whatever ended it."""
Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


def number(value: float | None) -> float | int | str | None:
    """A number as JSON has it: whole ones without a point, non-finite ones as text."""
    if value is None:
        return None
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return int(value) if value == int(value) and abs(value) < 2**53 else float(value)


EMPTY_SO_FAR = "the log is empty so far"
MOST_BLANK = 4096
"""Bytes of white space up to which a log counts as empty."""


def describe_run(run: Run, now: float | None = None) -> dict[str, object]:
    """The contract's `run` object."""
    state, reason = run_state(run, now)
    return {
        "name": run.name,
        "state": state.value,
        "state_reason": reason,
        "files": [_describe_file(source) for source in run.files],
        "totals": {axis: number(total) for axis, total in sorted(run.totals.items())},
        "series": [_describe_series(series, run) for series in run.series],
        "events": [_describe_event(source, event) for source, event in run.events],
        "config": plain(run.config),
        "artifacts": [
            {"kind": a.kind, "path": a.path} | ({"problem": a.problem} if a.problem else {})
            for a in run.artifacts
        ],
        "job": _describe_job(run),
    }


def _describe_job(run: Run) -> dict[str, object] | None:
    if run.job is None:
        return None
    from .schedulers.describing import describe_job

    return describe_job(run.job)


def run_state(run: Run, now: float | None = None) -> tuple[RunState, str]:
    """State of the run and the reason, judged file by file, then by its job."""
    moment = time.time() if now is None else now
    job = speaking_job(run)
    alive = is_alive(job, moment)
    states = [_file_state(run, number, moment, alive) for number in range(len(run.files))]
    seen = combine_states(states)
    if job is None:
        return seen
    progress = [_progress(run, number).shown for number in range(len(run.files))]
    return with_job(
        job,
        seen,
        now=moment,
        written=last_written(run),
        shown=next(filter(None, progress), ""),
        is_announced=any(event.kind is EventKind.FINISHED for _, event in run.events),
    )


def has_ended(run: Run, now: float | None = None) -> bool:
    """True if no more lines are expected of a run: only then is a verdict on it final.

    A run has ended if its log or its job says so, or if its log does not say how it ended and was
    not written for a day. One that is silent for less may be stalled, and may go on.
    """
    moment = time.time() if now is None else now
    state, _ = run_state(run, moment)
    if state is not RunState.UNKNOWN:
        return state in (RunState.FINISHED, RunState.FAILED)
    job = speaking_job(run)
    if job is not None and (job.is_over or job.is_waiting):
        return job.is_over
    written = last_written(run)
    return run.is_over or (written is not None and moment - written > LONG_AGO)


def _file_state(run: Run, file: int, now: float, alive: bool | None) -> tuple[RunState, str]:
    source = run.files[file]
    events = [event for owner, event in run.events if owner is source]
    age: float | None = None
    # Standard input has no size, and was read to its end.
    size = 0 if source.path == "-" else None
    if not run.is_over:
        with contextlib.suppress(OSError, ValueError):
            found = os.stat(source.path)
            age, size = max(0.0, now - found.st_mtime), found.st_size
    # One that has bytes which nobody has read yet is not empty.
    is_empty = size == 0 and not source.bytes
    if not run.is_over and (is_empty or _is_blank(source, size)):
        return (RunState.RUNNING if alive else RunState.UNKNOWN), EMPTY_SO_FAR
    return infer_state(
        events,
        age,
        progress=_progress(run, file),
        interval_seconds=interval_of(source),
        is_alive=alive,
    )


def _is_blank(source: SourceFile, size: int | None) -> bool:
    """True for a file with nothing but white space in it, such as a single end of line."""
    if not size or size > MOST_BLANK:
        return False
    with (
        contextlib.suppress(OSError, ValueError),
        open_artifact_file(source.path, source.root) as file,
    ):
        return not file.read(MOST_BLANK + 1).strip()
    return False


def _progress(run: Run, file: int) -> Progress:
    source = run.files[file]
    return Progress(
        last_row_line=_last_progress(run, file),
        lines=source.lines,
        last_step=_last(source, "step"),
        total_steps=run.totals.get("step"),
        last_epoch=_last(source, "epoch"),
        total_epochs=run.totals.get("epoch"),
    )


def _last_progress(run: Run, file: int) -> int:
    """The last line that shows training going on; a summary printed at exit does not."""
    return max(
        (
            series.line_of(-1)
            for series in run.series
            if len(series)
            and series.file == file
            and series.role
            and not series.name.startswith(_AT_EXIT)
        ),
        default=0,
    )


def _last(source: SourceFile, axis: str) -> float | None:
    column = source.coordinates.axes.get(axis)
    if column is None or not len(column):
        return None
    value = float(column.view()[-1])
    return value if math.isfinite(value) else None


def interval_of(source: SourceFile) -> float | None:
    """Seconds between records of a file, by the timestamps of the last hundred."""
    column = source.coordinates.axes.get("time")
    if column is None:
        return None
    times = column.view()[-100:]
    gaps = np.diff(times[np.isfinite(times)])
    gaps = gaps[gaps > 0]
    return float(np.median(gaps)) if len(gaps) > 3 else None


def _describe_file(source: SourceFile) -> dict[str, object]:
    described: dict[str, object] = {
        "path": source.path,
        "format": source.format,
        "bytes": source.bytes,
        "lines": source.lines,
        "generations": source.generations,
    }
    if source.notice:
        described["note"] = source.notice
    if source.coordinates.stride > 1:
        described["kept"] = f"1 row in {source.coordinates.stride}"
    return described


def _describe_series(series: Series, run: Run) -> dict[str, object]:
    axis = series.axis_name
    x = series.axis(axis)
    values = series.values
    finite = np.isfinite(values)
    described: dict[str, object] = {
        "name": series.name,
        "role": series.role,
        "x": axis,
        "points": series.logged,
        "first": _point(x, values, 0),
        "last": _point(x, values, len(series) - 1),
        "min": None,
        "max": None,
        "nan": int(np.isnan(values).sum()) + series.dropped_nan,
        "inf": int(np.isinf(values).sum()) + series.dropped_inf,
        "unit": series.unit or None,
        "rank": series.rank,
        "file": run.files[series.file].path,
    }
    if len(values) == 1 and finite[0]:
        described["min"] = described["max"] = described["first"]
    elif finite.any():
        described["min"] = _point(x, values, int(np.argmin(np.where(finite, values, np.inf))))
        described["max"] = _point(x, values, int(np.argmax(np.where(finite, values, -np.inf))))
    return described


def _point(
    x: np.ndarray[tuple[int], np.dtype[np.float64]],
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
    index: int,
) -> list[float | int | str | None]:
    place = float(x[index])
    return [None if math.isnan(place) else number(place), number(float(values[index]))]


def _describe_event(source: SourceFile, event: Event) -> dict[str, object]:
    described: dict[str, object] = {
        "kind": event.kind.value,
        "title": event.title,
        "file": source.path,
        "line": event.line,
        "last_line": event.last_line,
        "offset": event.offset if event.offset >= 0 else None,
        "step": number(event.step),
        "count": event.count,
    }
    if event.ranks:
        described["ranks"] = list(event.ranks)
    if event.exception:
        described["exception"] = event.exception
        described["message"] = event.message
        described["frames"] = [
            {"file": f.file, "line": f.line, "function": f.function, "code": f.code}
            for f in event.frames
        ]
        described["chain"] = list(event.chain)
    if event.source:
        described["source"] = dict(event.source)
    return described


def plain(value: object, depth: int = 0) -> Json:
    """Any configuration value as JSON, however it was written."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return number(value)
    if depth >= MAX_DEPTH:
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    return str(value)

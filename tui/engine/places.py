"""From a line of a log to its place on an axis, and back."""

from __future__ import annotations

import math

import numpy as np

from mltd.runs.coordinates import Coordinates
from mltd.runs.envelope import Envelope, Envelopes
from mltd.runs.harvest import AXES
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series

from .curve_protocol import Place, PlaceRequest
from .series_list import find_series


def find_place(request: PlaceRequest, run: Run, envelopes: Envelopes | None = None) -> Place:
    """The answer to a request; `envelopes` spares a look at all points where they are known."""
    known = Envelopes() if envelopes is None else envelopes
    if request.x is not None:
        return _line_of(request, request.x, run, known)
    source = find_source(run, request.path)
    x = None if source is None else _x_of(request, run, source, known)
    return Place(request.ticket, request.run, request.path, request.line, x)


def find_source(run: Run, path: str) -> SourceFile | None:
    """The file of a run with this path, or with this name if only one has it."""
    exact = next((source for source in run.files if source.path == path), None)
    if exact is not None:
        return exact
    alike = [source for source in run.files if source.path.rpartition("/")[2] == path]
    return alike[0] if len(alike) == 1 else None


def newest_rows(source: SourceFile) -> tuple[int, int]:
    """The rows of what the file holds now; older generations are in no file any more."""
    generation = source.coordinates.generation.view()
    return int(np.searchsorted(generation, source.generations - 1)), len(generation)


def row_before(source: SourceFile, line: int) -> int | None:
    """The row at a line or before it."""
    first, stop = newest_rows(source)
    row = int(np.searchsorted(source.coordinates.line.view()[first:stop], line, side="right"))
    return first + row - 1 if row else None


def row_after(source: SourceFile, line: int) -> int | None:
    """The row at a line or behind it; at the end of a log, the last one."""
    first, stop = newest_rows(source)
    row = first + int(np.searchsorted(source.coordinates.line.view()[first:stop], line))
    return min(row, stop - 1) if first < stop else None


def coordinate(table: Coordinates, axis: str, row: int) -> float | None:
    """Where a row is on an axis, if that is known."""
    x = float(table.axis(axis, np.array([row]))[0])
    return x if math.isfinite(x) else None


def line_of(run: Run, series: Series, point: int) -> int:
    """The line of a point in the file as it is now; 0 if it is in no file any more."""
    source = run.files[series.file]
    row = int(series.rows[point])
    return series.line_of(point) if row >= newest_rows(source)[0] else 0


def on_index(reference: Envelope, table: Coordinates, row: int) -> float | None:
    """The number of the point that belongs to a row, which may be one of another file."""
    if table is reference.series.coordinates:
        point = int(np.searchsorted(reference.series.rows, row))
        return float(min(point, len(reference.series) - 1))
    for axis in AXES:
        x = coordinate(table, axis, row)
        if x is not None and (found := reference.at_or_after(axis, x)) is not None:
            return float(found)
    return None


def _x_of(
    request: PlaceRequest, run: Run, source: SourceFile, envelopes: Envelopes
) -> float | None:
    row = row_before(source, request.line)
    if row is None:
        return None
    if request.axis != "index":
        return coordinate(source.coordinates, request.axis, row)
    series = find_series(run, request.key) or _any_series(run, source.path)
    if series is None:
        return None
    return on_index(envelopes.of(request.run, series), source.coordinates, row)


def _any_series(run: Run, path: str = "") -> Series | None:
    """The metric with the most points, of one file if that has any."""
    everything = [series for series in run.series if len(series)]
    here = [series for series in everything if run.files[series.file].path == path]
    return max(here or everything, key=len, default=None)


def _line_of(request: PlaceRequest, x: float, run: Run, envelopes: Envelopes) -> Place:
    series = find_series(run, request.key) or _any_series(run, request.path)
    point = None
    if series is not None:
        envelope = envelopes.of(request.run, series)
        point = envelope.nearest(request.axis, x)
    if series is None or point is None:
        return Place(request.ticket, request.run, request.path, 0, x)
    path = run.files[series.file].path
    return Place(
        request.ticket,
        request.run,
        path,
        line_of(run, series, point),
        envelope.place(request.axis, point),
    )

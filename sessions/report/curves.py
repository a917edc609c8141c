"""The curves that a report shows: those that the evidence names, then what every run has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

import numpy as np

from mltd.analyzers.core.glance import Glance, has_axis
from mltd.runs.envelope import Buckets, Envelope
from mltd.runs.event import EventKind
from mltd.runs.run import Run
from mltd.runs.series import Series

from .chart import Chart, Mark, Point, Trace
from .pieces import Described, Piece, number, parts, text
from .references import stretch_of

MOST_CHARTS = 6
BUCKETS = 200
"""Of each curve; every bucket keeps its smallest and its largest value."""
MOST_MARKS = 6
_MOST_PASSES = 8
_MAIN = ("train/loss", "val/loss", "grad_norm", "lr")
_USUAL = ("val/accuracy", "train/accuracy", "reward", "loss_scale")
_LAST = ("memory", "throughput", "step_time")
"""Shown if the evidence names them, or if there is next to nothing else."""
_FEW = 2
_SEVERITIES = ("critical", "warning", "info")


def charts_of(
    run: Run, pieces: Iterable[Piece], diagnosis: Described | None, most: int = MOST_CHARTS
) -> tuple[Chart, ...]:
    """One chart for each of the most telling metrics."""
    view = Glance(run)
    chosen: dict[int, Series] = {}
    for series in (*_of_roles(view, _MAIN), *_named(run, pieces), *_of_roles(view, _USUAL)):
        chosen.setdefault(id(series), series)
    if len(chosen) < _FEW:
        rest = (curve.series for curve in view.all_curves())
        for series in (*_of_roles(view, _LAST), *rest):
            chosen.setdefault(id(series), series)
    found: list[Chart] = []
    for series in list(chosen.values())[:most]:
        chart = _chart(run, series, diagnosis)
        if chart is not None:
            found.append(chart)
    return tuple(found)


def overlay(name: str, title: str, before: Series, after: Series, axis: str) -> Chart | None:
    """The same metric of two runs, over one axis."""
    shared = axis if has_axis(before, axis) and has_axis(after, axis) else "index"
    traces = [_trace(label, Envelope(series), shared)
              for label, series in (("before", before), ("after", after))]  # fmt: skip
    kept = tuple(trace for trace in traces if trace is not None)
    if len(kept) < 2:
        return None
    return Chart(name, title, _axis_label(shared), kept, role=before.role or "")


def find_metric(run: Run, name: str) -> Series | None:
    """The series with a role or a name."""
    found = (run.find(file, name) for file in range(len(run.files)))
    by_name = next((series for series in found if series is not None and len(series)), None)
    return by_name or Glance(run).primary(name)


def _named(run: Run, pieces: Iterable[Piece]) -> Iterator[Series]:
    for piece in pieces:
        if piece.kind == "series":
            series = find_metric(run, stretch_of(piece.ref).name)
            if series is not None:
                yield series


def _of_roles(view: Glance, roles: Iterable[str]) -> Iterator[Series]:
    for role in roles:
        if (series := view.primary(role)) is not None:
            yield series


def _chart(run: Run, series: Series, diagnosis: Described | None) -> Chart | None:
    envelope = Envelope(series)
    axis = _axis_of(envelope)
    trace = _trace(series.name, envelope, axis)
    if trace is None:
        return None
    role = series.role or ""
    title = series.name if not role or role == series.name else f"{series.name} ({role})"
    marks = () if axis == "time" else _marks(run, envelope, axis, diagnosis)
    return Chart(slug(role or series.name), title, _axis_label(axis), (trace,), marks, role)


def _axis_of(envelope: Envelope) -> str:
    """The axis of a series; the order of its points where its counter is none."""
    axis = envelope.series.axis_name
    extent = envelope.extent(axis)
    is_one_place = extent is not None and extent[0] == extent[1] and len(envelope.series) > 1
    return "index" if is_one_place or envelope.passes_over(axis).is_in_order else axis


def _trace(label: str, envelope: Envelope, axis: str) -> Trace | None:
    passes = envelope.buckets(axis, None, None, BUCKETS)[-_MOST_PASSES:]
    extent = envelope.extent(axis)
    if not passes or extent is None:
        return None
    start = extent[0] if axis == "time" else 0.0
    values = envelope.series.values
    finite = np.isfinite(values)
    return Trace(
        label,
        tuple(stretch for one in passes for stretch in _stretches(one, start)),
        tuple(float(x) - start for one in passes for x in one.x[one.bad > 0]),
        int((~finite).sum()),
        float(values[0]),
        float(values[-1]),
        _extreme(envelope, axis, start, np.where(finite, values, np.inf).argmin()),
        _extreme(envelope, axis, start, np.where(finite, values, -np.inf).argmax()),
        (extent[0] - start, extent[1] - start),
    )


def _stretches(buckets: Buckets, start: float) -> Iterator[tuple[Point, ...]]:
    """A pass without the buckets that have no finite value: they are gaps."""
    stretch: list[Point] = []
    for x, low, high in zip(buckets.x, buckets.low, buckets.high, strict=True):
        if np.isfinite(low):
            stretch.append((float(x) - start, float(low), float(high)))
        elif stretch:
            yield tuple(stretch)
            stretch = []
    if stretch:
        yield tuple(stretch)


def _extreme(
    envelope: Envelope, axis: str, start: float, point: np.intp
) -> tuple[float, float] | None:
    value = float(envelope.series.values[point])
    place = envelope.place(axis, int(point))
    return (place - start, value) if math.isfinite(value) and math.isfinite(place) else None


def _axis_label(axis: str) -> str:
    return {"index": "record", "time": "seconds"}.get(axis, axis)


def _marks(
    run: Run, envelope: Envelope, axis: str, diagnosis: Described | None
) -> tuple[Mark, ...]:
    extent = envelope.extent(axis)
    if extent is None:
        return ()
    found = [*_onsets(run, axis, diagnosis), *_restarts(run, envelope, axis)]
    inside = (mark for mark in found if extent[0] <= mark.x <= extent[1])
    merged: dict[float, Mark] = {}
    for mark in sorted(inside, key=lambda mark: _SEVERITIES.index(mark.severity)):
        known = merged.get(mark.x)
        if known is None:
            merged[mark.x] = mark
        elif mark.label not in known.label:
            merged[mark.x] = Mark(mark.x, f"{known.label}, {mark.label}", known.severity)
    return tuple(merged.values())[:MOST_MARKS]


def _onsets(run: Run, axis: str, diagnosis: Described | None) -> Iterator[Mark]:
    """Where findings began, if they are counted on this axis."""
    axes = {name for source in run.files for name in source.coordinates.axes}
    usual = next((name for name in ("step", "epoch") if name in axes), "index")
    for finding in parts(diagnosis or {}, "findings"):
        step, severity = number(finding, "first_step"), text(finding, "severity")
        if step is None or severity not in ("critical", "warning"):
            continue
        counted = usual
        for ref in parts(finding, "evidence")[:1]:
            if text(ref, "kind") == "series":
                series = find_metric(run, stretch_of(text(ref, "ref")).name)
                counted = _axis_of(Envelope(series)) if series is not None else usual
        if counted == axis:
            yield Mark(step, text(finding, "id"), severity)


def _restarts(run: Run, envelope: Envelope, axis: str) -> Iterator[Mark]:
    for _, event in run.events:
        if event.kind is EventKind.RESTART and event.step is not None and axis == "step":
            yield Mark(float(event.step), "restart")
    starts, _ = envelope.passes_over(axis).stretches
    for start in starts[1 : 1 + MOST_MARKS]:
        yield Mark(envelope.place(axis, int(start)), "restart")


def slug(name: str) -> str:
    """A name as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:48] or "metric"

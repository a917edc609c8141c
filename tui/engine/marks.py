"""Marks on curves: what was found and what happened, at its place on the axis in use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from mltd.analyzers.core.finding import Finding
from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.event import Event, EventKind
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series

from ..evidence_place import LinePlace, SeriesPlace, place_of
from .axis_places import AxisPlaces
from .curve_protocol import Mark, MarkKind
from .places import find_source, newest_rows
from .rate_jumps import RateJumps

MOST = 100
"""Marks in all: more would hide the curve."""
MOST_CHECKPOINTS = 40
MOST_RESTARTS = 40
MOST_RATES = 20
_LONGEST_LABEL = 100
_ERRORS = (EventKind.EXCEPTION, EventKind.OOM, EventKind.NCCL, EventKind.SIGNAL)
_NEARBY = 4096
"""Rows after a restart among which the first one is looked for whose place is known."""
_ORDER = (MarkKind.FINDING, MarkKind.ERROR, MarkKind.RESTART, MarkKind.RATE, MarkKind.CHECKPOINT)
"""What matters most comes first."""
_Events = Sequence[tuple[SourceFile, Event]]


def find_marks(
    places: AxisPlaces,
    diagnosis: Diagnosis | None,
    rates: RateJumps | None,
    low: float | None = None,
    high: float | None = None,
) -> list[Mark]:
    """The marks of a run on a part of the axis, those that matter most first."""
    events = places.run.events
    marks: dict[tuple[float, MarkKind, str], Mark] = {}
    for mark in (
        *_findings(places, diagnosis),
        *_errors(places, events),
        *_restarts(places, events),
        *_rates(places, rates),
        *_checkpoints(places, events),
    ):
        # One restart may be told by the log, by the file and by the counter.
        label = mark.label if mark.kind in (MarkKind.FINDING, MarkKind.ERROR) else ""
        is_inside = (low is None or mark.x >= low) and (high is None or mark.x <= high)
        if is_inside:
            marks.setdefault((mark.x, mark.kind, label), mark)
    return list(marks.values())


def most_important(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """At most as many marks as can be told apart."""
    return tuple(sorted(marks, key=lambda mark: _ORDER.index(mark.kind))[:MOST])


def _mark(
    x: float | None, kind: MarkKind, label: str, path: str, line: int, severity: str = "info"
) -> Iterator[Mark]:
    """One mark, or none if its place is not known."""
    if x is not None and math.isfinite(x):
        yield Mark(x, kind, label[:_LONGEST_LABEL], severity, path, line)


def _findings(places: AxisPlaces, diagnosis: Diagnosis | None) -> Iterator[Mark]:
    for finding in diagnosis.findings if diagnosis is not None else ():
        if finding.is_alarm:
            x, path, line = _place_of_finding(places, finding)
            label, severity = f"{finding.id}: {finding.title}", finding.severity.value
            yield from _mark(x, MarkKind.FINDING, label, path, line, severity)


def _place_of_finding(places: AxisPlaces, finding: Finding) -> tuple[float | None, str, int]:
    run, step = places.run, finding.first_step
    stands = place_of(finding.evidence[0])
    series = _series(run, stands.name) if isinstance(stands, SeriesPlace) else None
    if series is not None and step is not None:
        x, line = places.of_finding(series, step)
        return x, run.files[series.file].path, line
    x = None if step is None else places.of_step(step)
    if isinstance(stands, LinePlace) and (source := find_source(run, stands.name)) is not None:
        known = x if x is not None else places.of_line(source, stands.line)
        return known, source.path, stands.line
    return x, "", 0


def _series(run: Run, name: str) -> Series | None:
    found = (run.find(file, name) for file in range(len(run.files)))
    return next((series for series in found if series is not None and len(series)), None)


def _errors(places: AxisPlaces, events: _Events) -> Iterator[Mark]:
    found = [(source, event) for source, event in events if event.kind in _ERRORS]
    for source, event in found[-MOST:]:
        x = places.of_event(source, event, is_after=False)
        yield from _mark(x, MarkKind.ERROR, event.title, source.path, event.line, "critical")


def _restarts(places: AxisPlaces, events: _Events) -> Iterator[Mark]:
    said = [(source, event) for source, event in events if event.kind is EventKind.RESTART]
    for source, event in said[-MOST_RESTARTS:]:
        # The step that was current when a restart was announced is that of the run before it.
        x = places.of_event(source, event, is_after=True)
        yield from _mark(x, MarkKind.RESTART, event.title, source.path, event.line)
    for source in places.run.files:
        yield from _generations(places, source)
    yield from _falls(places)


def _generations(places: AxisPlaces, source: SourceFile) -> Iterator[Mark]:
    table = source.coordinates
    wanted = np.arange(max(1, source.generations - MOST_RESTARTS), source.generations)
    starts = np.searchsorted(table.generation.view(), wanted)
    for start in starts[starts < len(table)].tolist():
        rows = np.arange(start, min(len(table), start + _NEARBY))
        if places.axis != "index":
            rows = rows[np.isfinite(table.axis(places.axis, rows))]
        for row in rows[:1].tolist():
            line = int(table.line.view()[row]) if row >= newest_rows(source)[0] else 0
            x, label = places.of_row(source, row), "restart: the log began anew"
            yield from _mark(x, MarkKind.RESTART, label, source.path, line)


def _falls(places: AxisPlaces) -> Iterator[Mark]:
    reference = places.reference
    counted = reference.axes[0]
    passes = reference.passes_over(counted)
    if passes.is_in_order:
        return
    starts, stops = passes.stretches
    resumed, reached = passes.x(starts[1:]), passes.x(stops[:-1] - 1)
    falls = np.flatnonzero(resumed < reached)[-MOST_RESTARTS:]
    for point, place in zip(starts[1:][falls].tolist(), resumed[falls].tolist(), strict=True):
        x, path, line = places.of_point(reference.series, point)
        label = f"restart: {counted} went back to {place:.10g}"
        yield from _mark(x, MarkKind.RESTART, label, path, line)


def _rates(places: AxisPlaces, rates: RateJumps | None) -> Iterator[Mark]:
    if rates is None:
        return
    for jump in rates.largest(MOST_RATES):
        x, path, line = places.of_point(rates.series, jump.point)
        label = f"{rates.series.name} {jump.before:.3g} → {jump.after:.3g}"
        yield from _mark(x, MarkKind.RATE, label, path, line)


def _checkpoints(places: AxisPlaces, events: _Events) -> Iterator[Mark]:
    found = [(source, event) for source, event in events if event.kind is EventKind.CHECKPOINT]
    if len(found) > MOST_CHECKPOINTS:
        chosen = np.linspace(0, len(found) - 1, MOST_CHECKPOINTS).round().astype(int)
        found = [found[number] for number in chosen.tolist()]
    for source, event in found:
        x = places.of_event(source, event, is_after=False)
        yield from _mark(x, MarkKind.CHECKPOINT, event.title, source.path, event.line)

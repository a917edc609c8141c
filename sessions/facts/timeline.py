"""Timeline: what happened when, from the first line of the log to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mltd.analyzers.core.curve import Curve
from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.event import Event, EventKind
from mltd.runs.run import Run, SourceFile

from ..model.constraints import TimelineEntry
from ..model.evidence import EvidenceRef, RefKind, referred
from .clock import first_stamp, moment_at
from .gathered import Seen
from .lines import Line, name_of, quote_of
from .material import tidy
from .places import Place, Places
from .reach import main_series, reach_of
from .wording import gist, is_going

MOST_ENTRIES = 25
MOST_FINDINGS = 8
MOST_FAILURES = 5
MOST_RESTARTS = 5
MOST_LINES = 2000
"""Of a traceback, that are compared with those that findings point at."""
MANY_POINTS = 200_000
"""A longer series is not gone through for places where its counter went back."""
_ALWAYS_TOLD = ("lr_anomaly", "resume_discontinuity")
"""Findings that mark a change of the run even where they raise no alarm."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An entry before it has its place among the others."""

    text: str
    place: Place
    evidence: EvidenceRef | None


def timeline(
    places: Places, seen: Seen, starts: Sequence[Line], diagnosis: Diagnosis | None
) -> tuple[TimelineEntry, ...]:
    """At most a screenful of entries, in their order."""
    run = places.run
    begin = list(_begin(run, seen, starts))
    is_growing = is_going(seen)
    findings = list(_findings(places, diagnosis, is_growing))
    middle = [
        *findings,
        *_failures(places, findings),
        *_restarts(places),
        *_generations(run),
        *_counter_falls(run),
        *_checkpoints(places, is_growing),
    ][: MOST_ENTRIES - 2]
    marks = [*begin, *_in_order(run, middle)]
    marks += _end(run, seen, marks)
    return tuple(
        TimelineEntry(
            text=mark.text,
            at=mark.place.at,
            step=mark.place.step,
            evidence=mark.evidence,
            source="series" if mark.evidence and mark.evidence.kind is RefKind.SERIES else "log",
        )
        for mark in marks
    )


def _in_order(run: Run, marks: list[Mark]) -> list[Mark]:
    """By line where one file tells all, else by moment where all have one, else by step."""
    if len({mark.place.file for mark in marks}) <= 1 and all(m.place.line for m in marks):
        is_one_file = all(source.generations == 1 for source in run.files)
        if is_one_file:
            return sorted(marks, key=lambda mark: mark.place.line)
    key: Callable[[Mark], tuple[bool, float]] = _step_of
    if all(mark.place.at is not None for mark in marks):
        key = _seconds_of
    return sorted(marks, key=key)


def _seconds_of(mark: Mark) -> tuple[bool, float]:
    return False, mark.place.at.timestamp() if mark.place.at else 0.0


def _step_of(mark: Mark) -> tuple[bool, float]:
    return mark.place.step is None, mark.place.step or 0.0


def _begin(run: Run, seen: Seen, starts: Sequence[Line]) -> Iterator[Mark]:
    if not run.files:
        return
    line = next((line for line in starts if line.text.strip()), None)
    evidence = None
    if line is not None:
        evidence = EvidenceRef(
            kind=RefKind.LOG, ref=f"{line.file}:{line.number}", quote=quote_of(line)
        )
    text = f"the log {tidy(name_of(run.files[0]), 80)} begins"
    if seen.first_step:
        text += f" (the first {seen.axis} in it is {seen.first_step:,.10g})"
    at = first_stamp(starts) or reach_of(run).began
    yield Mark(text, Place(seen.first_step, seen.axis, at), evidence)


def _end(run: Run, seen: Seen, marks: Sequence[Mark]) -> Iterator[Mark]:
    if not run.files:
        return
    main = main_series(run)
    evidence = None
    if main is not None:
        x = main.axis(main.axis_name)[-1]
        where = f"@{x:.10g}" if np.isfinite(x) else ""
        evidence = EvidenceRef(
            kind=RefKind.SERIES, ref=f"{main.name}{where}", quote=f"{main.values[-1]:.4g}"
        )
    told = "the run goes on" if seen.state == "running" else f"the log ends: {seen.state}"
    if seen.state_reason and seen.state != "failed" and not is_going(seen):
        told += f" ({seen.state_reason})"
    moments = [reach_of(run).ended, *(mark.place.at for mark in marks)]
    # What is said about a failure may come long after the last record.
    at = max((one for one in moments if one is not None), default=None)
    yield Mark(tidy(told, 200), Place(seen.last_step, seen.axis, at), evidence)


def _findings(places: Places, diagnosis: Diagnosis | None, is_growing: bool) -> Iterator[Mark]:
    if diagnosis is None:
        return
    told = [f for f in diagnosis.findings if f.is_alarm or f.id in _ALWAYS_TOLD]
    # An exception stands among the failures, with its own line.
    told = [finding for finding in told if finding.id != "exception"]
    for finding in told[:MOST_FINDINGS]:
        place = places.of_finding(finding)
        said = f"{finding.id}: {gist(finding, is_growing=is_growing)}"
        yield Mark(tidy(said, 200), place, referred(finding.evidence[0]))


def _failures(places: Places, told: Sequence[Mark]) -> Iterator[Mark]:
    """What ended the run, or an attempt before it, unless a finding tells of the same lines."""
    known = {(mark.place.file, mark.place.line) for mark in told}
    pointed = {mark.evidence.ref for mark in told if mark.evidence is not None}
    found = []
    for file, source, event in places.failures():
        lines = range(event.line, max(event.line, event.last_line) + 1)
        refs = {f"{name_of(source)}:{line}" for line in lines[:MOST_LINES]}
        if (file, event.line) not in known and not refs & pointed:
            found.append((file, source, event))
    # A launcher passes signals on to all its processes: that says nothing about the cause.
    causes = [one for one in found if one[2].kind is not EventKind.SIGNAL] or found
    found = list({event.title: (file, source, event) for file, source, event in causes}.values())
    if len(found) > MOST_FAILURES:
        found = [*found[:2], *found[-(MOST_FAILURES - 2) :]]
    for file, source, event in found:
        yield _of_event(places, file, source, event, event.title)


def _of_event(places: Places, file: int, source: SourceFile, event: Event, text: str) -> Mark:
    evidence = EvidenceRef(
        kind=RefKind.LOG, ref=f"{name_of(source)}:{event.line}", quote=tidy(event.title, 160)
    )
    return Mark(tidy(text, 200), places.of_event(file, event), evidence)


def _restarts(places: Places) -> Iterator[Mark]:
    found = _events(places, lambda event: event.kind is EventKind.RESTART)
    shown = found
    if len(found) > MOST_RESTARTS:
        shown = [*found[:2], *found[-(MOST_RESTARTS - 2) :]]
    for number, (file, source, event) in enumerate(shown):
        is_gap = len(shown) < len(found) and number == 1
        more = f" (and {len(found) - len(shown)} more times)" if is_gap else ""
        yield _of_event(places, file, source, event, event.title + more)


def _checkpoints(places: Places, is_growing: bool) -> Iterator[Mark]:
    """The first, and once there will be no more of them the last and how many."""
    found = _events(
        places, lambda event: event.kind is EventKind.CHECKPOINT and "saved" in event.title
    )
    if not found:
        return
    count = sum(event.count for _, _, event in found)
    yield _of_event(places, *found[0], found[0][2].title)
    if len(found) > 1 and not is_growing:
        yield _of_event(places, *found[-1], f"{found[-1][2].title} (the last of {count})")


def _events(
    places: Places, is_wanted: Callable[[Event], bool]
) -> list[tuple[int, SourceFile, Event]]:
    numbers = {id(source): number for number, source in enumerate(places.run.files)}
    return [(numbers[id(s)], s, event) for s, event in places.run.events if is_wanted(event)]


def _generations(run: Run) -> Iterator[Mark]:
    """Files that were seen to begin anew."""
    for number, source in enumerate(run.files):
        if source.generations == 1 or source.is_snapshot:
            continue
        text = f"{name_of(source)} began anew {source.generations - 1} time(s)"
        first = next((s for s in run.of_file(number) if len(s)), None)
        place = Place(file=number)
        if first is not None:
            of_row = source.coordinates.generation.view()[first.rows]
            newest = np.flatnonzero(of_row == of_row[-1])
            point = int(newest[0])
            x = float(first.axis(first.axis_name)[point])
            place = Place(
                x if np.isfinite(x) else None, first.axis_name, moment_at(first, point), number
            )
        yield Mark(tidy(text, 200), place, None)


def _counter_falls(run: Run) -> Iterator[Mark]:
    """The last place where the step went back, and how often it did."""
    main = main_series(run)
    if main is None or len(main) > MANY_POINTS:
        return
    curve = Curve(main)
    curve.update()
    if not curve.restarts:
        return
    last = curve.restarts[-1]
    text = f"the {main.axis_name} went back from {last.reached:,.10g} to {last.resumed:,.10g}"
    if len(curve.restarts) > 1:
        text += f", as {len(curve.restarts) - 1} time(s) before"
    evidence = EvidenceRef(
        kind=RefKind.SERIES,
        ref=f"{main.name}@{last.resumed:.10g}",
        quote=f"{main.values[last.raw]:.4g}",
    )
    place = Place(
        last.resumed, main.axis_name, moment_at(main, last.raw), main.file, main.line_of(last.raw)
    )
    yield Mark(tidy(text, 200), place, evidence)

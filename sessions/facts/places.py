"""Where and when something happened: step, moment, file and line of findings and events."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from mltd.analyzers.core.finding import EvidenceKind, Finding
from mltd.runs.event import Event, EventKind
from mltd.runs.failure import is_terminal
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series
from mltd.runs.state import RunState
from mltd.runs.summary import run_state

from .clock import first_stamp, last_stamp, moment, moment_at, moment_of_row, point_at
from .lines import Line, lines_around, name_of
from .reach import reach_of

_PLACE = re.compile(r"(?P<name>.*)@(?P<first>-?[\d.]+(?:e[+-]?\d+)?)(?:\.\..*)?", re.DOTALL)
MOST_WINDOWS = 6
_ONE_LINE = 2048
"""Bytes in which the line of an event fits."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happened, as far as that is known."""

    step: float | None = None
    axis: str = "step"
    at: datetime | None = None
    file: int = 0
    """Number of the file in the run."""
    line: int = 0
    is_after: bool = False
    """The moment is that of something said before."""
    is_after_step: bool = False
    """The step is the last that was logged, in whichever file."""


@dataclass(slots=True)
class Places:
    """Answers for one run; the text around its failures is read once."""

    run: Run
    windows: dict[tuple[int, int], list[Line]] = field(default_factory=dict)
    """File number and line of a failure to the lines around it."""

    def read_failures(self) -> list[Line]:
        """The text around the first and the last failures, from each failure on."""
        found: list[Line] = []
        failures = self.failures()
        half = MOST_WINDOWS // 2
        chosen = failures if len(failures) <= MOST_WINDOWS else failures[:half] + failures[-half:]
        for number, source, event in chosen:
            lines = lines_around(source, event)
            self.windows[number, event.line] = lines
            found += [line for line in lines if line.number >= event.line]
        return list(dict.fromkeys(found))

    def failures(self) -> list[tuple[int, SourceFile, Event]]:
        """Events that end a run, unless it is seen to go on, in the order of their lines."""
        numbers = {id(source): number for number, source in enumerate(self.run.files)}
        return [
            (numbers[id(source)], source, event)
            for source, event in self.run.events
            if is_terminal(event)
        ]

    def of_event(self, file: int, event: Event) -> Place:
        """The place of an event: by the stamps around it, else by the record before it."""
        lines = self.windows.get((file, event.line))
        if lines is None:
            # Not a failure: its own line tells the time, or none does.
            lines = lines_around(self.run.files[file], event, 0, _ONE_LINE)
        end = max(event.line, event.last_line)
        at = first_stamp(line for line in lines if event.line <= line.number <= end)
        is_after = at is None
        if at is None:
            at = last_stamp(line for line in lines if line.number < event.line)
            at = at or self._moment_before(file, event.line)
        place = Place(event.step, "step", at, file, event.line, is_after and at is not None)
        return self._after_the_last_step(place) if is_terminal(event) else place

    def _after_the_last_step(self, place: Place) -> Place:
        """What ends a run is often told in a file that counts no steps."""
        source = self.run.files[place.file]
        began = (e.line for s, e in self.run.events if s is source and e.kind is EventKind.RESTART)
        is_last_word = place.line > max(began, default=0)
        if place.step is not None or len(source.coordinates) or not is_last_word:
            return place
        reach = reach_of(self.run)
        if reach.last is None or run_state(self.run)[0] is not RunState.FAILED:
            return place
        at = place.at or reach.ended
        return replace(place, step=reach.last, axis=reach.axis, at=at, is_after_step=True,
                       is_after=place.is_after or place.at is None)  # fmt: skip

    def of_finding(self, finding: Finding) -> Place:
        """The onset of a finding."""
        for evidence in finding.evidence:
            if evidence.kind is EvidenceKind.SERIES:
                place = self._on_series(evidence.ref, finding.first_step)
            elif evidence.kind is EvidenceKind.LOG:
                place = self._in_log(evidence.ref, finding.first_step)
            else:
                place = None
            if place is not None:
                return place
        return Place(finding.first_step)

    def series_named(self, ref: str) -> tuple[Series | None, float | None]:
        """The series that a reference is about, and the first place that it names."""
        found = _PLACE.fullmatch(ref)
        name, first = (found["name"], found["first"]) if found else (ref, None)
        same = [series for series in self.run.series if series.name == name and len(series)]
        series = max(same, key=len, default=None)
        try:
            return series, None if first is None else float(first)
        except ValueError:
            return series, None

    def _on_series(self, ref: str, step: float | None) -> Place | None:
        series, first = self.series_named(ref)
        x = step if step is not None else first
        if series is None or x is None:
            return None
        point = point_at(series, x)
        if series.axis_name == "time":
            return Place(None, "time", moment(x), series.file)
        if point is None:
            return Place(x, series.axis_name, None, series.file)
        at = moment_at(series, point)
        return Place(x, series.axis_name, at, series.file, series.line_of(point))

    def _in_log(self, ref: str, step: float | None) -> Place | None:
        name, _, number = ref.rpartition(":")
        if not number.isdecimal():
            return None
        for file, source in enumerate(self.run.files):
            if name_of(source) != name:
                continue
            event = self._event_at(source, int(number))
            if event is not None:
                place = self.of_event(file, event)
                return place if step is None else replace(place, step=step)
            return Place(step, "step", self._moment_before(file, int(number)), file, int(number))
        return None

    def _event_at(self, source: SourceFile, line: int) -> Event | None:
        """The failure whose text a line is part of."""
        for owner, event in self.run.events:
            if owner is source and event.line <= line <= max(event.line, event.last_line):
                return event
        return None

    def _moment_before(self, file: int, line: int) -> datetime | None:
        """The moment of the last record up to a line."""
        rows = self.run.files[file].coordinates
        column = rows.axes.get("time")
        if column is None or len(rows) == 0:
            return None
        lines = rows.line.view()
        # Line numbers begin again with every generation; the newest one counts.
        newest = rows.generation.view() == rows.generation.view()[-1]
        before = np.flatnonzero(newest & (lines <= line) & np.isfinite(column.view()))
        return moment_of_row(rows, int(before[-1])) if len(before) else None

"""Where things that happened in a run are on the axis that is drawn."""

from __future__ import annotations

from mltd.runs.envelope import Envelope, Envelopes
from mltd.runs.event import Event
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series

from .places import coordinate, line_of, on_index, row_after


class AxisPlaces:
    """Looks up places of one run on one axis, through the points of the curve that is drawn."""

    def __init__(
        self, number: int, run: Run, axis: str, reference: Envelope, envelopes: Envelopes
    ) -> None:
        self.run = run
        self.axis = axis
        self.reference = reference
        self._number = number
        self._envelopes = envelopes

    def of_finding(self, series: Series, step: float) -> tuple[float | None, int]:
        """A place on a curve as analyzers count it, and its line."""
        envelope = self._envelopes.of(self._number, series)
        counted = series.axis_name
        if counted != "index" and envelope.passes_over(counted).is_in_order:
            # Where the counter is no axis, analyzers count points.
            counted = "index"
        point = envelope.at_or_after(counted, step)
        if point is None:
            return None, 0
        is_same = counted == self.axis and counted != "index"
        x = step if is_same else self._of_point(envelope, point)
        return x, line_of(self.run, series, point)

    def of_step(self, step: float) -> float | None:
        """A place of the run, in steps or, where there are none, in epochs."""
        names = {axis for source in self.run.files for axis in source.coordinates.axes}
        counted = next((axis for axis in ("step", "epoch") if axis in names), "index")
        if counted == self.axis:
            return step
        point = self.reference.at_or_after(counted, step)
        return None if point is None else self.reference.place(self.axis, point)

    def of_event(self, source: SourceFile, event: Event, *, is_after: bool) -> float | None:
        """Where an event belongs: to the step before it, or to the row behind it."""
        # Lines of older generations are in no file any more.
        if source.generations == 1 and (is_after or event.step is None):
            return self.of_line(source, event.line)
        return None if event.step is None else self.of_step(event.step)

    def of_line(self, source: SourceFile, line: int) -> float | None:
        """Where the next row behind a line is."""
        row = row_after(source, line)
        return None if row is None else self.of_row(source, row)

    def of_row(self, source: SourceFile, row: int) -> float | None:
        """Where a row of a file is."""
        if self.axis == "index":
            return on_index(self.reference, source.coordinates, row)
        return coordinate(source.coordinates, self.axis, row)

    def of_point(self, series: Series, point: int) -> tuple[float | None, str, int]:
        """Where a point of a series is, and in which file and line."""
        envelope = self._envelopes.of(self._number, series)
        path = self.run.files[series.file].path
        return self._of_point(envelope, point), path, line_of(self.run, series, point)

    def _of_point(self, envelope: Envelope, point: int) -> float | None:
        if self.axis != "index" or envelope is self.reference:
            return envelope.place(self.axis, point)
        table = envelope.series.coordinates
        return on_index(self.reference, table, int(envelope.series.rows[point]))

"""What the screen knows about its runs, as the engine told it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .engine.protocol import (
    Diagnosed,
    News,
    Rows,
    RunRow,
    RunsFound,
    RunStatus,
    SeriesChanged,
    SeriesInfo,
    StatusChanged,
)

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis


@dataclass(slots=True)
class KnownRun:
    """The latest news about one run."""

    status: RunStatus | None = None
    series: tuple[SeriesInfo, ...] = ()
    has_layers: bool = False
    diagnosis: Diagnosis | None = None


@dataclass(slots=True)
class RunBook:
    """All runs by number, and which one is being looked at."""

    rows: dict[int, RunRow] = field(default_factory=dict)
    known: dict[int, KnownRun] = field(default_factory=dict)
    selected: int = 0
    are_jobs_first: bool = True
    """The user came for jobs, and not for runs that were named."""

    @property
    def current(self) -> KnownRun:
        """The run that is being looked at."""
        return self.of(self.selected)

    def of(self, run: int) -> KnownRun:
        """What is known about a run, even if that is nothing yet."""
        return self.known.get(run) or KnownRun()

    def _entry(self, run: int) -> KnownRun:
        return self.known.setdefault(run, KnownRun())

    @property
    def position(self) -> tuple[int, int]:
        """Place of the selected run among all that are on the way, counted from 1."""
        way = self._way()
        place = way.index(self.selected) if self.selected in way else self.selected
        return place + 1, len(way)

    def _way(self) -> list[int]:
        if len(self.rows) < 2:
            return list(self.rows)
        from .run_list import walk

        return walk(self.rows.values(), self.selected, are_jobs_first=self.are_jobs_first)

    def name(self, run: int) -> str:
        """Something to call a run by."""
        row = self.rows.get(run)
        return row.name if row else f"run {run + 1}"

    def learn(self, news: News) -> None:
        """Take in what the engine says; what is not about runs is ignored."""
        match news:
            case RunsFound() | Rows():
                self.rows.update({row.run: row for row in news.rows})
            case StatusChanged():
                self._entry(news.status.run).status = news.status
            case SeriesChanged():
                known = self._entry(news.run)
                known.series, known.has_layers = news.series, news.has_layers
            case Diagnosed():
                self._entry(news.run).diagnosis = news.diagnosis
            case _:
                pass

    def beside(self, distance: int) -> int:
        """The run so many places further, around the end."""
        way = self._way()
        if self.selected not in way:
            return way[0] if way else self.selected
        return way[(way.index(self.selected) + distance) % len(way)]

    def find_series(self, run: int, name: str) -> SeriesInfo | None:
        """A metric by its name as evidence quotes it: its own, else its role."""
        series = self.of(run).series
        for info in series:
            if info.name == name:
                return info
        return next((info for info in series if info.role == name), None)

    def find_path(self, run: int, name: str) -> str | None:
        """The path of a log that evidence calls by its last part."""
        status = self.of(run).status
        files = status.files if status else ()
        return next((f.path for f in files if f.path.rpartition("/")[2] == name), None)

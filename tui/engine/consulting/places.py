"""From what Claude cites to places that the screen can show and a session can keep."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from mltd.diagnosis.answer.citation import (
    Citation,
    ConfigCitation,
    LogCitation,
    SeriesCitation,
    SourceCitation,
)
from mltd.diagnosis.artifacts import ArtifactError
from mltd.diagnosis.citations.check import check_citation
from mltd.diagnosis.citations.desk import Desk
from mltd.diagnosis.tools.series_lookup import find_series

if TYPE_CHECKING:
    from mltd.diagnosis.citations import CheckedCitation
    from mltd.runs.run import Run

    from .grounds import Grounds

_SECONDS = 1.0
_SERIES, _LINES = SeriesCitation, (LogCitation, SourceCitation)


class Found(NamedTuple):
    """A place in a run."""

    ref: str = ""
    """As evidence of the analyzers names it; empty if the screen cannot show it."""
    key: str = ""
    """Of the run; empty if nobody knows which one is meant."""


class Places:
    """Knows the runs by what they are called in citations."""

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._book = grounds.book
        self._keys = {called: key for key, called in grounds.book.run_names.items()}

    def number_of(self, key: str) -> int | None:
        """The number under which the screen knows a run."""
        return self._grounds.numbers.get(key)

    def find(self, checked: CheckedCitation) -> Found:
        """Where a citation really stands; never raises."""
        citation = checked.citation
        if isinstance(citation, _LINES):
            return self._line(citation, checked.line)
        if isinstance(citation, _SERIES):
            return self._point(citation, checked.step)
        if isinstance(citation, ConfigCitation):
            return Found(key=next(iter(self._runs(citation.run)), ("", None))[0])
        return Found(key=self._grounds.main)

    def _line(self, citation: LogCitation | SourceCitation, line: int | None) -> Found:
        name = citation.artifact if isinstance(citation, LogCitation) else citation.path
        try:
            artifact = self._book.place(name).artifact
        except ArtifactError:
            return Found()
        key = self._keys.get(artifact.run, "")
        run = self._grounds.runs.get(key)
        if run is None:
            return Found()
        paths = [source.path for source in run.files]
        short = artifact.path.rpartition("/")[2]
        # The screen finds a log by the last part of its path: of several, the first.
        first = next((path for path in paths if path.rpartition("/")[2] == short), "")
        is_shown = first == artifact.path
        return Found(f"{short}:{line or citation.first_line}" if is_shown else "", key)

    def _point(self, citation: SeriesCitation, step: float | None) -> Found:
        found = [
            (key, series[0].name)
            for key, run in self._runs(citation.run)
            if (series := find_series(run, self._bare(citation.name, key)))
        ]
        if not found:
            runs = self._runs(citation.run)
            return Found(key=runs[0][0] if len(runs) == 1 else "")
        if len(found) > 1:
            found = [one for one in found if self._holds(citation, one[0])] or found
        key, name = found[0]
        return Found(f"{name}@{citation.step if step is None else step:.15g}", key)

    def _bare(self, name: str, key: str) -> str:
        called = self._book.run_names[key]
        return name.removeprefix(f"{called}/").removeprefix(f"{called}:").strip()

    def _runs(self, name: str) -> list[tuple[str, Run]]:
        """The runs that a citation may mean, the one that is looked at first."""
        runs, main = self._grounds.runs, self._grounds.main
        if not name:
            return sorted(runs.items(), key=lambda one: one[0] != main)
        try:
            key = self._keys[self._book.run_called(name)]
        except (ArtifactError, KeyError):
            return []
        return [(key, runs[key])]

    def _holds(self, citation: SeriesCitation, key: str) -> bool:
        """Whether this very run logs the value."""
        named: Citation = citation.model_copy(update={"run": self._book.run_names[key]})
        desk = Desk(self._book, (), None, time.monotonic, time.monotonic() + _SECONDS)
        return check_citation(named, desk).is_confirmed

"""Lines of logs around what was found, and how each log ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mltd.analyzers.core.finding import Evidence, EvidenceKind
from mltd.sessions.report.references import stretch_of

from ...artifacts import Artifact, ArtifactKind
from ...tools.series_lookup import find_series
from ...tools.tool import Page
from ..material import PackMaterial, Subject, interleaved
from .excerpt_pages import lines_page

CONTEXT = 4
MOST = 10
"""Of one run."""
END_LINES = 15
MOST_ENDS = 3
_WITH_LINES = ("text", "jsonl", "csv")


@dataclass(slots=True)
class _Window:
    artifact: Artifact
    first: int
    last: int
    why: list[str] = field(default_factory=list)


def excerpts(material: PackMaterial, problems: list[str]) -> list[Page]:
    """What is evidence first, in the order of the findings; then the ends of the logs."""
    subjects = material.subjects()
    evidence = interleaved(_of_run(subject, problems) for subject in subjects)
    return [*evidence, *interleaved(_ends(subject, problems) for subject in subjects)]


def _of_run(subject: Subject, problems: list[str]) -> Iterator[Page]:
    for window in _windows(subject):
        why = f"evidence for {', '.join(dict.fromkeys(window.why))}"
        name, book = window.artifact.name, subject.book
        page = lines_page(book, name, window.first, window.last, why, problems)
        if page is not None:
            yield page


def _windows(subject: Subject) -> list[_Window]:
    found: list[_Window] = []
    for why, first_step, evidence in subject.evidence():
        place = _line(subject, first_step, evidence)
        if place is None:
            continue
        artifact, line = place
        first, last = max(1, line - CONTEXT), line + CONTEXT
        near = next((one for one in found if one.artifact.name == artifact.name
                     and first <= one.last + 1 and last >= one.first - 1), None)  # fmt: skip
        if near is not None:
            near.first, near.last = min(first, near.first), max(last, near.last)
            near.why.append(why)
        elif len(found) < MOST:
            found.append(_Window(artifact, first, last, [why]))
    return found


def _line(
    subject: Subject, first_step: float | None, evidence: Evidence
) -> tuple[Artifact, int] | None:
    if evidence.kind is EvidenceKind.LOG:
        place = subject.place(evidence.ref)
        is_line = place is not None and place.first is not None and not place.artifact.problem
        return (place.artifact, place.first) if is_line and place and place.first else None
    if evidence.kind is EvidenceKind.SERIES:
        return _line_of_series(subject, first_step, evidence)
    return None


def _line_of_series(
    subject: Subject, first_step: float | None, evidence: Evidence
) -> tuple[Artifact, int] | None:
    """The line that logs the onset."""
    stretch = stretch_of(evidence.ref)
    start = stretch.first if stretch.first is not None else first_step
    series = next(iter(find_series(subject.run, stretch.name)), None)
    if series is None or start is None:
        return None
    source = subject.run.files[series.file]
    x = series.axis(series.axis_name)
    distance = np.where(np.isfinite(x), np.abs(x - start), np.inf)
    place = subject.place(source.path) if source.format in _WITH_LINES else None
    if place is None or place.artifact.problem or not np.isfinite(distance.min()):
        return None
    return place.artifact, series.line_of(int(np.argmin(distance)))


def _ends(subject: Subject, problems: list[str]) -> Iterator[Page]:
    """How the logs end; what cannot be read is told by the list of files."""
    logs = [
        one
        for one in subject.book.of_run(subject.called)
        if one.kind is ArtifactKind.LOG and not one.problem and one.lines
    ]
    for artifact in logs[:MOST_ENDS]:
        page = lines_page(
            subject.book, artifact.name, -END_LINES, -1, "the end of the log", problems
        )
        if page is not None:
            yield page

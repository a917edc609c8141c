"""Exceptions as the log has them, and the source lines that they name."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.runs.event import Event, EventKind
from mltd.runs.run import SourceFile

from ...artifacts import Artifact, ArtifactKind
from ...tools.tool import Page, Row
from ...tools.wording import place
from ..material import PackMaterial, Subject, interleaved
from .excerpt_pages import lines_page

MOST = 4
"""Of one run, the last ones: what ended it."""
LONGEST = 80
"""Lines of one; the inner end is what counts."""
MOST_SOURCES = 4
AROUND = 6
_KINDS = (EventKind.EXCEPTION, EventKind.OOM, EventKind.NCCL, EventKind.ERROR)


def tracebacks(material: PackMaterial, problems: list[str]) -> list[Page]:
    """The last exceptions of each run, each with its source."""
    return interleaved(_of_run(subject, problems) for subject in material.subjects())


def _of_run(subject: Subject, problems: list[str]) -> Iterator[Page]:
    chosen = _chosen(subject)
    if chosen:
        # A traceback may be cut before its last line, which tells the most.
        yield Page(
            brief=f"exceptions of {subject.called}",
            head=f"What {subject.called} raised:",
            rows=[Row(_told(subject, source, event)) for source, event in chosen],
            about={"run": subject.called, "what": "exceptions"},
            rest="grep for Traceback",
        )
    for source, event in chosen:
        artifact = _artifact(subject, source)
        yield _page(subject, artifact, event, problems)
        yield from _sources(subject, event, problems)


def _told(subject: Subject, source: SourceFile, event: Event) -> str:
    inner = event.frames[-1] if event.frames else None
    frame = f"; innermost frame {inner.file}:{inner.line}" if inner is not None else ""
    where = subject.named(f"{source.path}:{max(event.line, event.last_line)}")
    title = f"{event.exception}: {event.message}" if event.exception else event.title
    return f"{title}{frame} ({where})"


def _chosen(subject: Subject) -> list[tuple[SourceFile, Event]]:
    """With frames first; of the same exception the newest."""
    found: dict[tuple[str, str], tuple[SourceFile, Event]] = {}
    for source, event in reversed(subject.run.events):
        if event.kind in _KINDS and (event.frames or event.exception):
            found.setdefault((event.exception, event.message), (source, event))
    return sorted(found.values(), key=lambda one: not one[1].frames)[:MOST]


def _artifact(subject: Subject, source: SourceFile) -> Artifact | None:
    found = subject.place(source.path)
    return found.artifact if found is not None else None


def _page(subject: Subject, artifact: Artifact | None, event: Event, problems: list[str]) -> Page:
    step = f", around step {place(event.step)}" if event.step is not None else ""
    often = f", {event.count} times" if event.count > 1 else ""
    ranks = f", ranks {', '.join(map(str, event.ranks[:16]))}" if event.ranks else ""
    why = f"a traceback of {subject.called}{step}{often}{ranks}"
    if artifact is not None and not artifact.problem:
        last = max(event.line, event.last_line)
        first = max(event.line, last - LONGEST + 1)
        if page := lines_page(subject.book, artifact.name, first, last, why, problems):
            return page
    lines = event.text.split("\n")[-LONGEST:] if event.text else [event.title]
    return Page(
        brief=f"a traceback of {subject.called}",
        head=f"{why[0].upper()}{why[1:]}:",
        rows=[Row(line) for line in lines],
        about={"run": subject.called, "what": "traceback"},
        rest="ask for the traceback",
    )


def _sources(subject: Subject, event: Event, problems: list[str]) -> Iterator[Page]:
    """Innermost first; only files that belong to the session are opened."""
    seen: set[tuple[str, int]] = set()
    for frame in reversed(event.frames[-200:]):
        found = subject.place(frame.file)
        if found is None or found.artifact.kind is not ArtifactKind.SOURCE:
            continue
        name = found.artifact.name
        if (name, frame.line) in seen or len(seen) >= MOST_SOURCES:
            continue
        seen.add((name, frame.line))
        page = lines_page(
            subject.book, name, max(1, frame.line - AROUND), frame.line + AROUND,
            f"the traceback is at line {frame.line}", problems,
        )  # fmt: skip
        if page is not None:
            yield page

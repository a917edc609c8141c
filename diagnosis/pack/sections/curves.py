"""Metrics as compact tables: every single point around the onsets, groups over the whole run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mltd.analyzers.core.finding import EvidenceKind
from mltd.runs.series import Series
from mltd.sessions.report.references import stretch_of

from ...tools.series_lookup import described, find_series
from ...tools.series_table import Points, statistics, table
from ...tools.tool import Page, Row
from ...tools.wording import place
from ..material import PackMaterial, Subject, interleaved

MOST_SERIES = 8
"""Of one run, as tables; the others are named."""
WHOLE_ROWS = 24
ONSET_POINTS = 13
MOST_ONSETS = 2
MOST_STRETCHES = 10
MOST_NAMED = 100
_MAIN = ("train/loss", "val/loss", "grad_norm", "lr")
_USUAL = ("val/accuracy", "train/accuracy", "reward", "loss_scale", "throughput", "memory")
_WITH_LINES = ("text", "jsonl", "csv")
_REST = "query_series has single points"


def curves(material: PackMaterial) -> list[Page]:
    """For each run the curves that the findings name, then those that every run has."""
    return interleaved(_of_run(subject) for subject in material.subjects())


def _of_run(subject: Subject) -> Iterator[Page]:
    chosen = _chosen(subject)
    for series, onsets in chosen:
        yield _page(subject, series, onsets)
    told = {id(series) for series, _ in chosen}
    rest = [one for one in subject.run.series if len(one) and id(one) not in told]
    if rest:
        called = subject.called
        rows = [Row(described(subject.run, one)) for one in rest[:MOST_NAMED]]
        more = len(rest) - len(rows)
        yield Page(
            brief=f"other series of {called}",
            head=f"Other series of {called}:",
            rows=rows,
            about={"run": called, "what": "series"},
            rest="query_series lists all of them",
            tail=f"({more:,} more: query_series lists all of them)" if more > 0 else "",
        )


def _chosen(subject: Subject) -> list[tuple[Series, list[float]]]:
    """Series and the places at which something began in them."""
    found: dict[int, tuple[Series, list[float]]] = {}
    general: list[float] = []
    for _, first_step, evidence in subject.evidence():
        if first_step is not None and first_step not in general:
            general.append(first_step)
        if evidence.kind is not EvidenceKind.SERIES:
            continue
        stretch = stretch_of(evidence.ref)
        start = stretch.first if stretch.first is not None else first_step
        for series in find_series(subject.run, stretch.name)[:1]:
            _, onsets = found.setdefault(id(series), (series, []))
            if start is not None and start not in onsets:
                onsets.append(start)
    for role in (*_MAIN, *_USUAL):
        for series in find_series(subject.run, role)[:1]:
            onsets = general[:1] if series.axis_name == "step" else []
            found.setdefault(id(series), (series, onsets))
    if not found:
        for series in (one for one in subject.run.series if len(one)):
            found.setdefault(id(series), (series, []))
    return list(found.values())[:MOST_SERIES]


def _page(subject: Subject, series: Series, onsets: list[float]) -> Page:
    source = subject.run.files[series.file]
    unit = "line" if source.format in _WITH_LINES else "record"
    axis = series.axis_name
    points = Points(axis, series.axis(axis), series.values, series.lines, unit)
    role = f" [{series.role}]" if series.role else ""
    found = subject.place(source.path)
    file = found.artifact.name if found is not None else source.path.rpartition("/")[2]
    told = [f"{series.name}{role}, from {file}", *statistics(points), *_bad(points)]
    if series.dropped:
        told.append(f"{series.dropped:,} older points were dropped to save memory")
    if len(points) > WHOLE_ROWS:
        for onset in _apart(points, onsets):
            head, rows = table(points.around(onset, ONSET_POINTS), ONSET_POINTS)
            told += [f"around {axis} {place(onset)}: {head}", *rows]
    head, rows = table(points, WHOLE_ROWS)
    told += [f"whole run: {head}", *rows]
    return Page(
        # Names that a log gives stand nowhere but in the data.
        brief=f"{series.role or 'a series'} of {subject.called}",
        head=f"{subject.called}, one series:",
        rows=[Row(line) for line in told],
        about={"run": subject.called, "series": series.name},
        rest=_REST,
    )


def _apart(points: Points, onsets: list[float]) -> list[float]:
    """The onsets whose tables would not be the same."""
    kept: dict[int, float] = {}
    for onset in onsets:
        first = int(points.around(onset, ONSET_POINTS).lines[0])
        if all(abs(first - other) > ONSET_POINTS // 2 for other in kept):
            kept[first] = onset
    return list(kept.values())[:MOST_ONSETS]


def _bad(points: Points) -> list[str]:
    """Where values are not finite, as stretches."""
    bad = np.flatnonzero(~np.isfinite(points.y))
    if not len(bad):
        return []
    breaks = np.flatnonzero(np.diff(bad) > 1)
    firsts, lasts = bad[np.append(0, breaks + 1)], bad[np.append(breaks, len(bad) - 1)]
    shown = [
        place(points.x[first])
        if first == last
        else f"{place(points.x[first])}..{place(points.x[last])}"
        for first, last in zip(firsts[:MOST_STRETCHES], lasts[:MOST_STRETCHES], strict=True)
    ]
    more = len(firsts) - len(shown)
    behind = f" and {more:,} more stretches" if more > 0 else ""
    return [f"not finite at {points.axis} {', '.join(shown)}{behind}"]

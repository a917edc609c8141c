"""The header's second row: how old the data are, where they come from, how they are followed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mltd.runs.remote.names import shown

from ..engine.protocol import LogFile, RunStatus
from ..escaping import printable
from ..findings.spans import Line, Span, cells, clean, clip, fit, middle, spread
from ..quantities import short_count
from ..wording import age, count, duration, percent, rate
from .run_freshness import LAG_SECONDS, Freshness
from .run_header_job import LEAST_PATH as JOB_PATH
from .run_header_job import job_line, longest, waiting_row
from .run_header_link import link_row

LONG_AGE, SHORT_AGE = 20, 15
"""Cells kept for the age, so that nothing beside it moves when it ticks."""
NARROW = 76
LEAST_PATH, USUAL_PATH = 8, 40
RATE_CELLS = 12
REASON_ABOVE = 98
"""Columns from which on the first row has room for the reason of a failure."""


def source_row(
    status: RunStatus | None,
    fresh: Freshness,
    width: int,
    *,
    waiting_for: str,
    home: str,
    now: float = 0.0,
) -> Line:
    """The row in exactly so many cells."""
    file = _main_file(status)
    path = _short_path(file.path if file is not None else waiting_for, home)
    if status is not None and status.link is not None and fresh.unheard is not None:
        return link_row(status.link, fresh.unheard, path, width)
    if status is not None and file is not None and fresh.age is None and file.read:
        gone = clean(file.note) or "gone"
        name = middle(path, max(LEAST_PATH, width - len(gone) - 4))
        return fit((Span(f"▲ {name}: {gone}", "stale"),), width)
    if status is not None and status.job is not None and fresh.age is None:
        return waiting_row(status.job, path if file is not None else "", now, width)
    if status is None or fresh.age is None:
        what = middle(path, width - len("waiting for ")) or "the first run"
        return spread((Span("waiting for ", "stale"), Span(what, "quiet")), (), width)
    oldness = _age(fresh, is_long=width >= NARROW)
    more = f" +{count(len(status.files) - 1, 'file')}" if len(status.files) > 1 else ""
    room = width - cells(oldness) - 1
    facts: Line = ()
    wished = min(USUAL_PATH, cells((Span(path + more),)))
    if status.job is not None:
        wished = longest(status.job, now)
    for facts in _facts(status, file, fresh):
        if cells(facts) + 2 + wished <= room:
            break
    room -= cells(facts) + 2
    if room < LEAST_PATH:
        return spread(oldness, fit(facts, max(0, width - cells(oldness) - 1)), width)
    lead: Line = ()
    if status.job is not None:
        is_told = status.state == "failed" and bool(status.reason) and width < REASON_ABOVE
        written = status.last_line_at
        lead = job_line(status.job, now, room, written_at=written, is_brief=is_told)
        room -= cells(lead) + 2
        if room < JOB_PATH:
            return spread((*oldness, Span(" "), *lead), facts, width)
        lead = (*lead, Span("  "))
    said = Span(middle(path, room - len(more)) + more, "quiet")
    if status.state == "failed" and status.reason and width < REASON_ABOVE:
        # Why it ended matters more than where it is written.
        said = Span(clip(clean(status.reason), room), "severity-critical")
    return spread((*oldness, Span(" "), *lead, said), facts, width)


def _age(fresh: Freshness, *, is_long: bool) -> Line:
    width = LONG_AGE if is_long else SHORT_AGE
    seconds = fresh.age or 0.0
    if fresh.is_stale and not fresh.is_lagging:
        return (Span(f"▲ silent {duration(seconds, units=1)}".ljust(width), "stale"),)
    said = f"last line {age(seconds)}" if is_long else f"line {age(seconds)}"
    return (Span(said.ljust(width), "quiet"),)


def _facts(status: RunStatus, file: LogFile | None, fresh: Freshness) -> Iterator[Line]:
    """How the log is followed and how fast it grows, the most that can be said first."""
    urgent: list[Span] = []
    if status.lag_seconds > LAG_SECONDS:
        said = f"lag {duration(status.lag_seconds)}" + (" STALE" if fresh.is_lagging else "")
        urgent.append(Span(said, "stale" if fresh.is_lagging else "quiet"))
    if status.share_read < 1:
        urgent.append(Span(f"reading {percent(status.share_read)}", "severity-info"))
    how = f"ssh {status.link.host}" if status.link is not None else file.mode if file else ""
    mode = Span(printable(how) or "not followed", "quiet")
    note = Span(clean(file.note), "quiet") if file is not None and file.note else None
    is_silent = fresh.is_stale and not fresh.is_lagging
    is_known = math.isfinite(status.lines_per_second) and not is_silent
    speed = max(0.0, status.lines_per_second) if is_known else 0.0
    growth = Span(rate(speed).rjust(RATE_CELLS), "quiet") if speed > 0 else None
    brief_growth = Span(rate(speed, "").replace(" ", "").rjust(6), "quiet") if speed > 0 else None
    kept = brief_kept = None
    if status.thinned > 1:
        kept = Span(f"1 row in {count(status.thinned)} kept", "quiet")
        brief_kept = Span(f"1:{short_count(status.thinned)}", "quiet")
    # The rate comes first: its changing width moves nothing but the gap before it.
    yield _joined(growth, note, kept, *urgent, mode)
    yield _joined(growth, kept, *urgent, mode)
    yield _joined(brief_growth, brief_kept, *urgent, mode)
    yield _joined(brief_growth, *urgent, mode)
    yield _joined(*urgent, mode)


def _joined(*spans: Span | None) -> Line:
    line: list[Span] = []
    for span in spans:
        if span is not None:
            line += [Span(" · ", "quiet"), span] if line else [span]
    return tuple(line)


def _main_file(status: RunStatus | None) -> LogFile | None:
    """The file that most is read from."""
    if status is None or not status.files:
        return None
    return max(status.files, key=lambda file: file.lines)


def _short_path(path: str, home: str) -> str:
    """A path as one would type it."""
    path = shown(path)
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        path = "~" + path[len(home.rstrip("/")) :]
    return clean(path)

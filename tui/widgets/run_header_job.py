"""What the header says about the job that trains a run: its state, and how much time is left."""

from __future__ import annotations

from ..engine.job_row import JobRow
from ..engine.protocol import RunStatus
from ..findings.spans import Line, Span, cells, clean, clip, middle, spread
from ..job_text import begun, described, has_begun, is_good, job_state, waiting

LEAST_PATH = 20
"""Cells from which on it is worth saying where the log is, too."""
_BLIND = ("running", "stalled", "unknown")
"""States that a log leaves a run in whose job was ended from outside."""


def job_line(
    job: JobRow,
    now: float,
    room: int,
    *,
    written_at: float | None = None,
    is_brief: bool = False,
) -> Line:
    """As much about a job as fits; briefly, only its state and how it ended."""
    if has_begun(job, written_at):
        return (Span(clip(clean(begun(job, now)), room), "quiet"),)
    warning = "▲ " if job.is_short_of_time(now) else ""
    meaning = "severity-warning" if warning else _meaning(job)
    said = ""
    texts = list(described(job, now))
    for text in texts[1:] if is_brief and len(texts) > 1 else texts:
        said = f"{warning}{clean(text)}"
        if cells((Span(said),)) <= room:
            break
    return (Span(clip(said, room), meaning),)


def longest(job: JobRow, now: float) -> int:
    """Cells that it takes to say everything."""
    return cells((Span(clean(next(described(job, now)))),)) + 2 * job.is_short_of_time(now)


def waiting_row(job: JobRow, path: str, now: float, width: int) -> Line:
    """The row of a run of which nothing is written yet, in exactly so many cells."""
    if job.is_waiting:
        line: Line = (Span("waiting for ", "stale"), Span(clean(waiting(job, now)), "quiet"))
        words = Span(f" · {clean(job.reason_words)}", "quiet")
        if job.reason_words and cells((*line, words)) <= width:
            line = (*line, words)
    else:
        said = " · nothing is written" + " yet" * job.is_running if path else " · no log is known"
        line = (*job_line(job, now, max(0, width - len(said))), Span(said, "stale"))
    room = width - cells(line) - 2
    where = (Span(middle(path, room), "quiet"),) if path and room >= LEAST_PATH else ()
    return spread(line, where, width)


def state_of(status: RunStatus) -> tuple[str, str, str] | None:
    """Glyph, word and meaning where the job knows better than the log; None where it does not."""
    job = status.job
    if job is None:
        return None
    is_unwritten = status.last_line_at is None
    if job.is_waiting and is_unwritten:
        return job_state(job)
    if job.is_over and status.state in _BLIND:
        return job_state(job)
    return job_state(job) if job.is_running and is_unwritten else None


def _meaning(job: JobRow) -> str:
    return "severity-critical" if job.is_over and not is_good(job) else "quiet"

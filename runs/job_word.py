"""The scheduler's word about a run's job, beside what the log shows of the run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .state import RunState

if TYPE_CHECKING:
    from .run import Run
    from .schedulers.job import Job

_FRESH = 900.0
"""Seconds for which an answer about a job that runs or waits is believed."""
_A_MOMENT = 60.0
"""Seconds within which a job that has failed is gone from the queue."""


def speaking_job(run: Run) -> Job | None:
    """The run's job, unless others have written its log since, or it has not begun to."""
    if run.job is None:
        return None
    from .schedulers.attaching import is_of

    return run.job if is_of(run.job, last_written(run)) else None


def last_written(run: Run) -> float | None:
    """When any of the run's files was written last; None if that means nothing."""
    if run.is_over:
        return None
    moments = (_written(source.path) for source in run.files)
    return max((moment for moment in moments if moment is not None), default=None)


def is_alive(job: Job | None, now: float) -> bool | None:
    """Whether the job runs; None if that is not known, or was said too long ago."""
    if job is None or job.is_over:
        return None if job is None else False
    if job.asked is not None and now - job.asked > _FRESH:
        return None
    if job.is_waiting:
        return False
    return True if job.is_running else None


def with_job(
    job: Job,
    seen: tuple[RunState, str],
    *,
    now: float,
    written: float | None,
    shown: str,
    is_announced: bool,
) -> tuple[RunState, str]:
    """What the log shows and what the scheduler says, as one state and its reason.

    `written` is when the log grew last; `shown` how far the run came, in words; `is_announced` if
    the log says that it is through.
    """
    if job.is_over:
        return _after_the_end(job, seen, shown, is_announced)
    alive = is_alive(job, now)
    state, reason = seen
    # An answer from before the log's last line says nothing about what came after it.
    is_later = job.asked is None or written is None or job.asked > written + _A_MOMENT
    if alive and is_later and state in (RunState.STALLED, RunState.FAILED):
        place = f" on {job.nodes}" if job.nodes else ""
        return state, f"{reason}, though job {job.id} still runs{place}"
    if alive is False and state is not RunState.FINISHED:
        why = f" ({job.reason_words})" if job.reason_words else ""
        waits = f"job {job.id} waits{' to run again' if job.restarts else ''}{why}"
        if state is RunState.FAILED:
            return state, f"{reason}; {waits}"
        return RunState.UNKNOWN, f"{waits}{f', it was at {shown}' if shown else ''}"
    return seen


def _after_the_end(
    job: Job, seen: tuple[RunState, str], shown: str, is_announced: bool
) -> tuple[RunState, str]:
    from .schedulers.ending import FROM_OUTSIDE, End, end_in_words, end_of

    end, words = end_of(job), end_in_words(job)
    state, reason = seen
    if end is None:
        return seen
    at = f" at {shown}" if shown else ""
    if end is End.COMPLETED:
        if state in (RunState.FAILED, RunState.FINISHED):
            return seen
        return RunState.FINISHED, f"{words}{at}"
    if state is RunState.FAILED:
        return state, f"{reason}; {words}"
    if state is RunState.FINISHED and (is_announced or end in FROM_OUTSIDE):
        return state, f"{reason}; {words} after that"
    is_open = end in (End.SIGNAL, End.EXIT)
    return RunState.FAILED, f"{words}{at}" + (", and its log does not say why" if is_open else "")


def _written(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return None

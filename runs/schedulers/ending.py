"""How a job ended, by what its scheduler says: one word for what many states and codes mean."""

from __future__ import annotations

import math
from enum import StrEnum

from .job import Job, JobState
from .quoting import clock

OUT_OF_MEMORY = 125
"""Slurm's own signal for a job whose memory ran out."""
NO_OUTPUT = 53
"""Slurm's own signal for an output file that cannot be opened."""


class End(StrEnum):
    """What ended a job."""

    COMPLETED = "completed"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    PREEMPTED = "preempted"
    NODE = "node"
    CANCELLED = "cancelled"
    LAUNCH = "launch"
    SIGNAL = "signal"
    EXIT = "exit"


_BY_STATE = {
    JobState.COMPLETED: End.COMPLETED,
    JobState.TIMEOUT: End.TIMEOUT,
    JobState.DEADLINE: End.TIMEOUT,
    JobState.OUT_OF_MEMORY: End.MEMORY,
    JobState.PREEMPTED: End.PREEMPTED,
    JobState.NODE_FAIL: End.NODE,
    JobState.BOOT_FAIL: End.NODE,
    JobState.CANCELLED: End.CANCELLED,
    JobState.LAUNCH_FAILED: End.LAUNCH,
}
_BY_REASON = {"OutOfMemory": End.MEMORY, "TimeLimit": End.TIMEOUT}
"""What a job that counts as failed may have as its reason."""
FROM_OUTSIDE = frozenset({End.TIMEOUT, End.PREEMPTED, End.NODE, End.CANCELLED})
"""Ends that no error of the program brings about."""


def end_of(job: Job) -> End | None:
    """What ended a job; None if it has not ended, or nothing is said about how."""
    if not job.is_over:
        return None
    if job.state is not JobState.FAILED:
        return _BY_STATE.get(job.state)
    if job.signal == OUT_OF_MEMORY:
        return End.MEMORY
    if (known := _BY_REASON.get(job.reason or "")) is not None:
        return known
    if job.reason == "JobLaunchFailure" and job.signal in (None, 0, NO_OUTPUT):
        return End.LAUNCH
    return End.SIGNAL if job.signal or job.signal_name else End.EXIT


def end_in_words(job: Job) -> str:
    """`job 48213 reached its time limit of 01:00:00`; empty as long as it has not ended."""
    end = end_of(job)
    return f"job {job.id} {_words(job, end)}" if end is not None else ""


def _words(job: Job, end: End) -> str:
    if end is End.TIMEOUT:
        if job.state is JobState.DEADLINE:
            return "reached its deadline"
        limit = job.time_limit
        is_known = limit is not None and math.isfinite(limit)
        return "reached its time limit" + (f" of {clock(limit)}" if limit and is_known else "")
    if end is End.CANCELLED:
        return f"was cancelled by {job.cancelled_by}" if job.cancelled_by else "was cancelled"
    if end is End.SIGNAL:
        return f"was ended by {job.signal_name or f'signal {job.signal}'}"
    if end is End.EXIT:
        return f"failed with exit code {job.exit_code}" if job.exit_code else "failed"
    if end is End.LAUNCH:
        return f"could not be started{f': {job.reason_words}' if job.reason_words else ''}"
    return {
        End.COMPLETED: "ended by itself without an error",
        End.MEMORY: "ran out of host memory",
        End.PREEMPTED: "was preempted",
        End.NODE: f"lost a node{f' ({job.nodes})' if job.nodes else ''}",
    }[end]

"""A job as JSON: the `run.job` object of the documents that `check --json` prints."""

from __future__ import annotations

import math

from .job import Job

_TEXTS = (
    "id", "scheduler", "name", "user", "reason", "reason_words", "cancelled_by", "partition",
    "nodes", "work_dir", "stdout", "stderr",
)  # fmt: skip
_NUMBERS = (
    "exit_code", "signal", "node_count", "restarts", "requested_memory", "max_rss",
    "time_limit", "elapsed", "submit", "start", "expected_start", "end", "limit_at", "asked",
)  # fmt: skip


def describe_job(job: Job) -> dict[str, object]:
    """What is known of a job; times are seconds, moments seconds since 1970, memory bytes."""
    described: dict[str, object] = {name: getattr(job, name) for name in _TEXTS}
    described["state"] = job.state.value
    described["state_flags"] = list(job.state_flags)
    described.update({name: _number(getattr(job, name)) for name in _NUMBERS})
    described["signal_name"] = job.signal_name
    described["node_memory"] = job.node_memory
    described["time_left"] = _number(job.time_left)
    described["quote"] = job.quote
    return described


def _number(value: float | None) -> float | int | str | None:
    if value is None or isinstance(value, int):
        return value
    if not math.isfinite(value):
        return "inf" if value > 0 else "-inf" if value < 0 else "nan"
    return int(value) if value == int(value) else value

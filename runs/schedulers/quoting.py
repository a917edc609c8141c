"""A job in one line: the facts that a finding points at, and nothing that is not known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .job import Job

_UNITS = ("B", "K", "M", "G", "T", "P")


def quote(job: Job) -> str:
    """`job 48213 (train): TIMEOUT after 01:00:12 of 01:00:00 on gpu03, signal 15 (SIGTERM)`."""
    name = f" ({job.name})" if job.name else ""
    restarts = f"restarted {job.restarts} times" if (job.restarts or 0) > 1 else "restarted once"
    parts = (
        f"job {job.id}{name}: {_state(job)}{_timing(job)}{_place(job)}",
        _ending(job),
        f"reason {job.reason}" if job.reason else "",
        _memory(job),
        restarts if job.restarts else "",
    )
    return printable(", ".join(part for part in parts if part))


def _state(job: Job) -> str:
    by = f" by {job.cancelled_by}" if job.cancelled_by else ""
    flags = f" ({', '.join(job.state_flags)})" if job.state_flags else ""
    return f"{job.state}{by}{flags}"


def _timing(job: Job) -> str:
    if job.is_waiting or job.elapsed is None:
        return ""
    limit = job.time_limit
    of = "" if limit is None else " without a limit" if math.isinf(limit) else f" of {clock(limit)}"
    return f" after {clock(job.elapsed)}{of}"


def _place(job: Job) -> str:
    return f" on {job.nodes}" if job.nodes else ""


def _ending(job: Job) -> str:
    said = []
    if job.exit_code is not None and (job.exit_code or not job.signal):
        said.append(f"exit code {job.exit_code}")
    if job.signal:
        said.append(f"signal {job.signal}")
    if not (job.is_over and said):
        return ""
    name = f" ({job.signal_name})" if job.signal_name else ""
    return ", ".join(said) + name


def _memory(job: Job) -> str:
    allowed = job.node_memory
    if job.max_rss is None:
        return ""
    of = f" of {size(allowed)}" if allowed else ""
    return f"MaxRSS {size(job.max_rss)}{of}"


def clock(seconds: float) -> str:
    """A duration as Slurm writes it: `2-03:04:05`."""
    whole = int(max(0.0, seconds))
    days, rest = divmod(whole, 86_400)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def size(count: int) -> str:
    """Bytes as Slurm writes them: `61.2G`."""
    amount = float(count)
    for unit in _UNITS[:-1]:
        if amount < 1024:
            return f"{amount:.4g}{unit}"
        amount /= 1024
    return f"{amount:.4g}{_UNITS[-1]}"


def printable(text: str) -> str:
    """The text on one line, with nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text).strip()

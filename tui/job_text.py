"""Jobs in words: how long they run, why they wait, how they ended."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from .engine.job_row import JobRow
from .engine.protocol import Health, RunRow
from .wording import age, duration

OLD_SECONDS = 90.0
"""Seconds after which what a scheduler said is told with its age: it is asked every 30."""
READING = "reading..."
_HOUR, _DAY = 3600, 86_400
_DAYS_FROM = 48 * _HOUR
"""Seconds from which on hours are counted in days."""
_RESTARTS = {1: "once", 2: "twice"}
_STATES = {
    "running": ("▶", "severity-info"),
    "finished": ("✔", "severity-fine"),
    "failed": ("✖", "severity-critical"),
    "stalled": ("■", "severity-warning"),
    "unknown": ("?", "quiet"),
}
_JOB_WORDS = {
    "CONFIGURING": "starting",
    "COMPLETING": "ending",
    "STAGE_OUT": "ending",
    "REQUEUE_HOLD": "held",
    "REQUEUE_FED": "requeued",
    "SPECIAL_EXIT": "held",
    "RESV_DEL_HOLD": "held",
    "TIMEOUT": "timed out",
    "OUT_OF_MEMORY": "no memory",
    "NODE_FAIL": "node fail",
    "BOOT_FAIL": "boot fail",
    "LAUNCH_FAILED": "no start",
    "UNKNOWN": "ended?",
}
"""States in at most nine letters, where their own name is longer or says less."""
_GOOD = ("COMPLETED",)
_NEUTRAL = ("CANCELLED", "REVOKED")


def state_of(row: RunRow) -> tuple[str, str, str]:
    """Glyph, word and meaning of a run's state; a job that waits or is over knows it best."""
    job = row.job
    is_worse = job is not None and job.state in _GOOD and row.state == "failed"
    is_silent = job is not None and job.is_running and row.state not in ("", "unknown")
    if job is None or is_silent or is_worse or has_begun(job, row.modified):
        glyph, meaning = _STATES.get(row.state, ("", "quiet"))
        return glyph, row.state or READING, meaning
    return job_state(job)


def has_begun(job: JobRow, written_at: float | None) -> bool:
    """True if a job has begun to write since its scheduler said that it waits."""
    is_known = written_at is not None and job.asked_at is not None
    return job.is_waiting and is_known and (written_at or 0.0) > (job.asked_at or 0.0)


def job_state(job: JobRow) -> tuple[str, str, str]:
    """Glyph, word and meaning of a job's own state."""
    word = _JOB_WORDS.get(job.state, job.state.lower().replace("_", " "))
    if job.is_waiting:
        return "◌", "held" if "Held" in job.reason else word, "quiet"
    if job.is_running:
        return "▶", word, "severity-info"
    if not job.is_over:
        return "?", word, "quiet"
    if job.state in _GOOD:
        return "✔", word, "severity-fine"
    return ("–", word, "quiet") if job.state in _NEUTRAL else ("✖", word, "severity-critical")


def is_good(job: JobRow) -> bool:
    """True if a job ended as it should, or as somebody wanted it."""
    return job.state in (*_GOOD, *_NEUTRAL)


def time_of(job: JobRow, now: float) -> str:
    """Elapsed of allowed in one column: `1:02/4:00h`, `12/30m`, `2d03h/7d`; `at 14:05` to come."""
    if job.is_waiting:
        return "" if job.starts_at is None else f"at {moment(job.starts_at, now)}"
    elapsed, limit = job.elapsed_at(now), _limit(job)
    if elapsed is None:
        return ""
    elapsed = max(0.0, elapsed)
    if limit is None or job.is_over:
        return (
            duration(elapsed, units=1, is_compact=True) if elapsed < _HOUR else _with_unit(elapsed)
        )
    if limit < _HOUR:
        return f"{int(elapsed // 60)}/{int(limit // 60)}m"
    if limit >= _DAYS_FROM:
        return f"{_in_days(elapsed)}/{_in_days(limit)}"
    return f"{_hours(elapsed)}/{_hours(limit)}h"


def share_of(job: JobRow, now: float) -> float | None:
    """The part of its time that a running job has used."""
    elapsed, limit = job.elapsed_at(now), _limit(job)
    if elapsed is None or not limit or not job.is_running:
        return None
    return min(1.0, max(0.0, elapsed / limit))


def label_of(row: RunRow, *, are_jobs_first: bool) -> str:
    """What a run is called in the list: among jobs, by its job."""
    if row.job is None or row.is_extra or not are_jobs_first:
        return row.name
    return f"{row.job.id} {row.job.name}".rstrip()


def headline_of(row: RunRow, now: float) -> str:
    """The worst finding, or why there is nothing to find."""
    job = row.job
    is_alarm = row.health in (Health.CRITICAL, Health.WARNING)
    if job is None or is_alarm:
        return row.headline
    if not row.logs and not job.is_waiting:
        return excuse_of(job, now) or "it writes no log that is known"
    if job.is_running and row.modified is None:
        return "it has written nothing yet"
    return excuse_of(job, now) or row.headline


def excuse_of(job: JobRow, now: float) -> str:
    """Why a job waits or how it ended, where its log does not say so."""
    if job.is_waiting:
        return f"{why(job)}{restarts(job)}" or "waiting"
    said = [job.ending, job.reason_words] if job.is_over and job.state not in _GOOD else []
    if job.state == "CANCELLED":
        said = [f"cancelled {job.ending}".rstrip()]
    if job.phase == "unknown":
        said = [job.reason_words]
    return ", ".join(part for part in said if part)


def why(job: JobRow) -> str:
    """Why a job waits, in words if there are some."""
    return job.reason_words or job.reason


def waiting(job: JobRow, now: float) -> str:
    """`job 48213: pending (Resources), starts about 14:05`."""
    reason = f" ({job.reason})" if job.reason else ""
    start = ""
    if job.starts_at is not None:
        start = f", starts about {moment(job.starts_at, now)}"
    _, word, _ = job_state(job)
    return f"job {job.id}: {word}{reason}{start}{restarts(job)}{stale(job, now)}"


def described(job: JobRow, now: float) -> Iterator[str]:
    """A job that has begun, for a header: the most that can be said first."""
    more = f"{restarts(job)}{stale(job, now)}"
    place = f" on {job.nodes}" if job.nodes else ""
    if job.is_waiting:
        yield waiting(job, now)
        yield f"{job.state}{stale(job, now)}"
        return
    elapsed, left = job.elapsed_at(now), job.left_at(now)
    if left is not None and elapsed is not None:
        remaining = _left(left)
        used = f"{job.state} {_of(elapsed, _limit(job))}"
        yield f"{used}, {remaining}{place}{more}"
        yield f"{used}, {remaining}{stale(job, now)}"
        yield f"{job.state}, {remaining}"
        yield remaining
        return
    spent = "" if elapsed is None else _of(elapsed, None)
    if job.is_over:
        ending = f", {job.ending}" if job.ending else ""
        yield f"{job.state}{ending}{f' after {spent}' if spent else ''}{place}{more}"
        yield f"{job.state}{ending}"
    elif job.phase == "unknown":
        yield f"job {job.id}: {job.reason_words or 'its state is not known'}"
        yield f"job {job.id}: ended?"
    else:
        yield f"{job.state} {spent}".rstrip() + place + more
    yield job.state


def restarts(job: JobRow) -> str:
    """`, restarted twice`."""
    if not job.restarts:
        return ""
    return f", restarted {_RESTARTS.get(job.restarts, f'{job.restarts} times')}"


def begun(job: JobRow, now: float) -> str:
    """What is known about a job that waited when its scheduler was asked, and writes by now."""
    passed = "" if job.asked_at is None else f" {age(now - job.asked_at)}"
    return f"job {job.id}: {job_state(job)[1]}{passed}, begun since"


def stale(job: JobRow, now: float) -> str:
    """`, as of 5 min ago`, if that is long."""
    if job.is_over or job.asked_at is None or now - job.asked_at < OLD_SECONDS:
        return ""
    return f", as of {age(now - job.asked_at)}"


def moment(at: float, now: float) -> str:
    """A point in time as one would say it today: `14:05`, `Tue 14:05`, `24 Dec`."""
    try:
        then, today = time.localtime(at), time.localtime(now)
    except (ValueError, OverflowError, OSError):
        return "?"
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    return time.strftime("%a %H:%M" if 0 < at - now < 6 * _DAY else "%d %b", then)


def _limit(job: JobRow) -> float | None:
    is_limited = job.limit is not None and math.isfinite(job.limit) and job.limit > 0
    return job.limit if is_limited else None


def _hours(seconds: float) -> str:
    return f"{int(seconds // _HOUR)}:{int(seconds // 60) % 60:02d}"


def _with_unit(seconds: float) -> str:
    return f"{_hours(seconds)}h" if seconds < _DAYS_FROM else _in_days(seconds)


def _in_days(seconds: float) -> str:
    if seconds < _DAY:
        return f"{_hours(seconds)}h"
    days, rest = divmod(int(seconds), _DAY)
    return f"{days}d{rest // _HOUR:02d}h" if rest >= _HOUR else f"{days}d"


def _of(elapsed: float, limit: float | None) -> str:
    """`1:02 of 4:00 h`, `12 of 30 min`."""
    if limit is None:
        return duration(elapsed)
    if limit < _HOUR:
        return f"{int(elapsed // 60)} of {int(limit // 60)} min"
    if limit >= _DAYS_FROM:
        return f"{_in_days(elapsed)} of {_in_days(limit)}"
    return f"{_hours(elapsed)} of {_hours(limit)} h"


def _left(seconds: float) -> str:
    if seconds <= 0:
        return "time limit reached"
    is_in_hours = _HOUR <= seconds < _DAYS_FROM
    # Minutes alone: a row that changes every second would be drawn every second.
    shown = _hours(seconds) if is_in_hours else duration(seconds, units=1 if seconds < _HOUR else 2)
    return f"{shown} left"

"""Which job writes a log that was opened by its path."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .job import Job

if TYPE_CHECKING:
    from ..discovery.run_files import RunFiles

SLACK = 300.0
"""Seconds: file servers have clocks of their own, and buffers are written late."""
_LATELY = 2 * 86_400.0
"""Seconds: schedulers list jobs of the last day; an older log has none there."""
_LONG_ENOUGH = 4
"""Digits from which a number in the middle of a name may be a job's."""
_NUMBERED = re.compile(r"(?:slurm|job)[-_.]?\d|^\d{4,}[-_.]|[-_.]\d{4,}(?:[-_.]|$)")
_CONFIGURATIONS = (
    "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf",
    "/usr/local/etc/slurm.conf", "/opt/slurm/etc/slurm.conf",
)  # fmt: skip


class _Log(NamedTuple):
    path: str
    real: str
    """The same without links."""
    written: float | None

    @property
    def name(self) -> str:
        return os.path.basename(self.real)


def attach(runs: Sequence[RunFiles], *, again: bool = False) -> None:
    """Give each run its job, where a scheduler of this machine lists it; asks at most once.

    `again`: those that have one get what is said about it now.
    """
    known = [files for files in runs if files.job is not None and again]
    unknown = [files for files in runs if files.job is None and _is_recent(files)]
    if not known and not (unknown and _is_worth_asking(unknown)):
        return
    from .registry import default_schedulers

    jobs = default_schedulers().own_jobs().jobs
    for files in (*known, *unknown):
        files.job = job_of(files, jobs)


def refused_runs(problem: Exception) -> list[RunFiles]:
    """The runs of jobs without a log about which there is something to say all the same."""
    from ..discovery.jobs import JobWithoutLog
    from .ending import End, end_of
    from .waiting import never_starts

    if not isinstance(problem, JobWithoutLog):
        return []
    return [
        replace(files, files=[])
        for files in problem.runs
        if files.job is not None and (never_starts(files.job) or end_of(files.job) is End.LAUNCH)
    ]


def job_of(files: RunFiles, jobs: Sequence[Job]) -> Job | None:
    """The job that writes these files, as the list has it; None if none of them does.

    A run that has its job already gets what the list says about it now.
    """
    if files.job is not None:
        known = (files.job.scheduler, files.job.id)
        return next((job for job in jobs if (job.scheduler, job.id) == known), files.job)
    logs = _logs(files)
    fitting = [job for job in jobs if any(_writes(job, log) for log in logs)]
    if not fitting:
        fitting = [job for job in jobs if any(_is_named_after(job, log) for log in logs)]
    # Jobs that write one file one after another: the newest has the word.
    return max(fitting, key=lambda job: (job.is_running, job.start or 0.0), default=None)


def is_of(job: Job, written: float | None) -> bool:
    """False if a file that was last written at this moment cannot be the work of a job."""
    if written is None:
        return True
    if job.start is None:
        # A requeued job has written before it began to wait; any other has not begun.
        return bool(job.restarts) or job.is_over
    is_later = job.is_over and job.end is not None and written > job.end + SLACK
    return written >= job.start - SLACK and not is_later


def _writes(job: Job, log: _Log) -> bool:
    stated = [path for path in (job.stdout, job.stderr) if path and _may_be(path, log)]
    return any(os.path.realpath(path) == log.real for path in stated) and is_of(job, log.written)


def _may_be(stated: str, log: _Log) -> bool:
    """A first look that costs no system call: lists may hold thousands of tasks."""
    return os.path.basename(stated) in (log.name, os.path.basename(log.path))


def _is_named_after(job: Job, log: _Log) -> bool:
    if log.written is None or not any(_holds(log.name, number) for number in _numbers(job)):
        return False
    return is_of(job, log.written) and _is_at_home(job, log)


def _numbers(job: Job) -> list[str]:
    """How the job may be called in a file's name; an array's number is that of all its tasks."""
    if job.array_id is not None and job.array_task is not None:
        own = [f"{job.array_id}[-_.]0*{job.array_task}"]
        return own if job.raw_id in (None, job.array_id) else [*own, str(job.raw_id)]
    known = {job.raw_id, job.het_id} - {None}
    return [str(number) for number in known] or [re.escape(job.id)]


def _holds(name: str, number: str) -> bool:
    """True if the number is a part of its own in a name: `slurm-48213_7.out`, `48213-x.err`."""
    if re.search(rf"(?:^|slurm[-_.]?|job[-_.]?){number}(?:[-_.]|$)", name):
        return True
    is_long = len(number) >= _LONG_ENOUGH
    return is_long and re.search(rf"[-_.]{number}(?:[-_.]|$)", name) is not None


def _is_at_home(job: Job, log: _Log) -> bool:
    """True if a file lies where the job works or writes; else its name must be the job's, too.

    A number alone may be a date, or the job of another cluster.
    """
    folder = os.path.dirname(log.real)
    if job.work_dir:
        home = os.path.realpath(job.work_dir)
        if folder == home or folder.startswith(home.rstrip(os.sep) + os.sep):
            return True
    stated = [os.path.dirname(path) for path in (job.stdout, job.stderr) if path]
    if folder in map(os.path.realpath, stated):
        return True
    return job.name is not None and len(job.name) > 2 and job.name in log.name


def _logs(files: RunFiles) -> list[_Log]:
    from ..discovery.run_files import Purpose

    return [_Log(path, os.path.realpath(path), _written(path)) for path in files.paths(Purpose.LOG)]


def _written(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return None


def _is_recent(files: RunFiles) -> bool:
    oldest = time.time() - _LATELY
    return any((log.written or 0.0) > oldest for log in _logs(files))


def _is_worth_asking(runs: Sequence[RunFiles]) -> bool:
    """True where a scheduler is installed and set up, as far as costs nothing to find out."""
    from .registry import default_schedulers

    if default_schedulers.cache_info().currsize:
        return bool(default_schedulers().available())
    if shutil.which("squeue") is None:
        return False
    # Commands without a configuration look for one in the network: only for a job's own log.
    is_set_up = "SLURM_CONF" in os.environ or any(map(os.path.exists, _CONFIGURATIONS))
    return is_set_up or any(_NUMBERED.search(log.name) for run in runs for log in _logs(run))

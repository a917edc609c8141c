"""Runs by the job that trains them: its output is the log."""

from __future__ import annotations

import os

from ..errors import InputError
from ..schedulers.job import Job
from ..schedulers.logs import job_logs
from ..schedulers.names import PREFIX, parse_job_name
from .run_files import Discovery, Purpose, RunFile, RunFiles, sorted_files


def explore_job(what: str) -> Discovery | None:
    """The runs of a job or of the tasks of an array; None if the name stands for no job."""
    if parse_job_name(what) is None:
        return None
    from ..schedulers.registry import default_schedulers

    schedulers = default_schedulers()
    if not what.startswith(PREFIX) and not schedulers.available():
        return None  # a bare number is a file that is missing, where there are no jobs
    found = schedulers.jobs(what)
    if found is None or not found.jobs:
        return None
    runs = [_run_of(job) for job in found.jobs]
    readable = [run for run in runs if run is not None]
    if not readable:
        raise _without_log(found.jobs[0])
    return Discovery(readable, list(found.notes))


def _run_of(job: Job) -> RunFiles | None:
    paths = [path for path in job_logs(job) if os.path.isfile(path)]
    if not paths:
        return None
    files = sorted_files([RunFile(path, Purpose.LOG) for path in paths])
    name = f"{job.id} {job.name}" if job.name else job.id
    return RunFiles(name, os.path.dirname(paths[0]) or ".", files)


def _without_log(job: Job) -> InputError:
    logs = job_logs(job)
    where = f": it will write {logs[0]}" if logs else ""
    state = job.state.value.lower().replace("_", " ")
    why = f" ({job.reason_words})" if job.is_waiting and job.reason_words else ""
    hint = "open it again when it runs" if not job.is_over else "name its log file"
    return InputError(f"job {job.id} is {state}{why} and has no log yet{where}", hint=hint)

"""Runs by the job that trains them: its output is the log."""

from __future__ import annotations

import os

from ..errors import InputError
from ..open_artifact import folder_of
from ..schedulers.job import Job
from ..schedulers.logs import job_logs
from ..schedulers.names import PREFIX, parse_job_name
from .run_files import Discovery, Purpose, RunFile, RunFiles, sorted_files


class JobWithoutLog(InputError):
    """A job that has written nothing yet; whoever can wait, may follow what it will write."""

    def __init__(self, message: str, *, hint: str, runs: list[RunFiles]) -> None:
        super().__init__(message, hint=hint)
        self.runs = runs


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
    runs = [run_of_job(job) for job in found.jobs]
    readable = [run for run in runs if any(os.path.isfile(file.path) for file in run.files)]
    if not readable:
        raise _without_log(found.jobs[0], runs)
    return Discovery(readable, list(found.notes))


def run_of_job(job: Job) -> RunFiles:
    """The run that a job trains; as long as it has written nothing, with the logs that it names."""
    stated = job_logs(job)
    paths = [path for path in stated if os.path.isfile(path)] or list(stated)
    files = sorted_files([RunFile(path, Purpose.LOG, folder_of(path)) for path in paths])
    root = os.path.dirname(paths[0]) if paths else job.work_dir
    return RunFiles(run_name(job), root or ".", files, job)


def run_name(job: Job) -> str:
    """What a run is called that is known by its job: `48213_7 resnet`."""
    return f"{job.id} {job.name}" if job.name else job.id


def _without_log(job: Job, runs: list[RunFiles]) -> JobWithoutLog:
    logs = job_logs(job)
    where = f": it will write {logs[0]}" if logs else ""
    state = job.state.value.lower().replace("_", " ")
    why = f" ({job.reason_words})" if job.is_waiting and job.reason_words else ""
    hint = "open it again when it runs" if not job.is_over else "name its log file"
    message = f"job {job.id} is {state}{why} and has no log yet{where}"
    return JobWithoutLog(message, hint=hint, runs=runs)

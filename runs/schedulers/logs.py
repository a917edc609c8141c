"""The files that a job writes: where it says so, and otherwise those that bear its number."""

from __future__ import annotations

import os
import re
import stat

from .job import Job

_FOLDERS = ("", "slurm_logs", "slurm-logs", "slurm", "logs", "log", "out", "output", "outputs")
"""Looked into below the work directory; the people who run such jobs put their logs there."""
_ENDINGS = (".out", ".err", ".log", ".txt", ".o", ".e")
MOST_NAMES = 20_000


def job_logs(job: Job) -> tuple[str, ...]:
    """Output first, then errors; files that do not exist yet are named if the job names them."""
    stated = [path for path in (job.stdout, job.stderr) if path and _may_be_log(path)]
    return tuple(dict.fromkeys(stated)) if stated else _by_number(job)


def _may_be_log(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True


def _by_number(job: Job) -> tuple[str, ...]:
    if not job.work_dir or (job.stdout and not _may_be_log(job.stdout)):
        return ()
    wanted = re.compile("|".join(rf"(?<![0-9]){number}(?![0-9])" for number in _numbers(job)))
    found = []
    for folder in _FOLDERS:
        place = os.path.join(job.work_dir, folder) if folder else job.work_dir
        found += [
            os.path.join(place, name)
            for name in _names(place)
            if name.endswith(_ENDINGS) and wanted.search(name)
        ]
    found = [path for path in found if os.path.isfile(path)]
    return tuple(sorted(found, key=lambda path: (path.endswith((".err", ".e")), path)))


def _numbers(job: Job) -> list[str]:
    """How the job may be called in a file's name."""
    if job.array_id is not None and job.array_task is not None:
        own = rf"{job.array_id}[_.-]0*{job.array_task}"
        is_first = job.raw_id == job.array_id  # that number stands for the whole array, too
        return [own] if is_first or job.raw_id is None else [own, str(job.raw_id)]
    return [str(number) for number in {job.raw_id, job.het_id} if number is not None] or [
        re.escape(job.id)
    ]


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False)]
    except OSError:
        return []

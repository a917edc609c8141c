"""Slurm as a scheduler: the jobs of this user, from whichever of its commands can tell."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass, field, replace

from ...errors import InputError
from ..job import Job, JobList
from ..names import JobId, parse_job_id, parse_job_name
from .matching import complete, matching
from .problems import Problem, Trouble
from .questions import Questions, Records

_PROGRAMS = ("squeue", "scontrol", "sacct")
_SILENT = (Trouble.NO_ACCOUNTING, Trouble.NOT_INSTALLED, Trouble.TOO_SOON, Trouble.UNKNOWN_JOB)
"""No accounts are nothing to complain about."""


def _questions() -> Questions:
    return Questions(os.getuid())


@dataclass
class Slurm:
    """Reads only; `squeue` is asked first, `scontrol` and `sacct` for what it does not know."""

    questions: Questions = field(default_factory=_questions)

    @property
    def name(self) -> str:
        """One word."""
        return "slurm"

    def is_available(self) -> bool:
        """True if any of its commands is installed here; asks nobody."""
        return any(self.questions.asker.is_installed(program) for program in _PROGRAMS)

    def parse_name(self, text: str) -> str | None:
        """The id in `job:48213`, `job:48213_7`, or in `48213` if there is no such file."""
        return parse_job_name(text)

    def own_jobs(self) -> JobList:
        """Jobs that wait, run or ended lately (a day with accounts, minutes without)."""
        if not self.is_available():
            return JobList(notes=("Slurm is not installed on this machine",))
        queue, past = self.questions.queue(), self.questions.past()
        queued, ended = self._jobs(queue), self._jobs(past)
        known = {job.id for job in queued}
        jobs = [complete(job, ended) for job in queued]
        # Accounts lag behind: what they call running and the queue does not know has ended.
        jobs += [
            job for job in ended if job.id not in known and (job.is_over or queue.found is None)
        ]
        notes = [str(queue.problem)] if queue.problem else []
        if past.problem is not None and past.problem.trouble not in _SILENT:
            notes.append(str(past.problem))
        asked = queue.asked if queue.found is not None else past.asked
        return JobList(tuple(jobs), tuple(notes), asked)

    def job(self, job_id: str) -> Job:
        """What is known about a job; of a heterogeneous one, about its first part."""
        found = self.jobs(job_id).jobs
        if len(found) == 1 or found[0].het_offset is not None:
            return min(found, key=lambda job: job.het_offset or 0)
        named = [job for job in found if job.array_task is not None] or list(found)
        raise InputError(
            f"job {job_id} is an array; {len(found)} of its tasks are known",
            hint=f"name one of them, such as job:{named[-1].id}",
        )

    def jobs(self, job_id: str) -> JobList:
        """All jobs, tasks or parts that an id stands for."""
        wanted = parse_job_id(job_id)
        if wanted is None:
            raise InputError(
                f"{job_id!r} is no job id", hint="ids look like 48213, 48213_7 or 48213+1"
            )
        queue = self.questions.queue()
        found = matching(self._jobs(queue), wanted)
        problems = [queue.problem]
        asked = queue.asked
        if not found:
            shown = self.questions.one(wanted.text)
            found = self._own(matching(_read(shown), wanted))
            problems.append(shown.problem)
            asked = shown.asked
        if not found or any(job.is_over and job.max_rss is None for job in found):
            accounts = self.questions.account(wanted.text)
            recorded = matching(self._jobs(accounts), wanted)
            problems.append(accounts.problem)
            asked = asked if found else accounts.asked
            found = [complete(job, recorded) for job in found] or recorded
        if not found:
            raise _unknown(wanted, [problem for problem in problems if problem])
        return JobList(tuple(found), asked=asked)

    def _jobs(self, records: Records) -> list[Job]:
        """This user's jobs: for root some versions give those of everybody."""
        return [job for job in _read(records) if job.user in (None, *self._names())]

    def _own(self, jobs: list[Job]) -> list[Job]:
        """The jobs, unless they are somebody else's."""
        for job in jobs:
            if job.user not in (None, *self._names()):
                place = f": {job.stdout}" if job.stdout else ""
                raise InputError(
                    f"job {job.id} belongs to {job.user}, not to you",
                    hint=f"name its log file, if you may read it{place}",
                )
        return jobs

    def _names(self) -> tuple[str, ...]:
        return str(self.questions.user), user_name(str(self.questions.user))


def _read(records: Records) -> list[Job]:
    jobs = (record.job(records.asked) for record in records.found or ())
    return [
        replace(job, cancelled_by=user_name(job.cancelled_by)) if job.cancelled_by else job
        for job in jobs
    ]


def user_name(number: str) -> str:
    """The name behind a user's number, or the number where it has none."""
    try:
        return pwd.getpwuid(int(number)).pw_name
    except (KeyError, ValueError, OverflowError):
        return number


def _unknown(wanted: JobId, problems: list[Problem]) -> InputError:
    """Say that there is no such job, or rather why nobody could be asked."""
    serious = [problem for problem in problems if problem.trouble not in _SILENT]
    soon = [problem for problem in problems if problem.trouble is Trouble.TOO_SOON]
    missing = [problem for problem in problems if problem.trouble is Trouble.NOT_INSTALLED]
    if len(missing) == len(problems) > 1:
        return InputError(
            f"job {wanted.text} cannot be looked up: Slurm is not installed on this machine",
            hint=missing[0].hint,
        )
    for problem in (*serious, *soon):
        return InputError(f"job {wanted.text} cannot be looked up: {problem.message}",
                          hint=problem.hint)  # fmt: skip
    return InputError(
        f"Slurm knows no job {wanted.text} of yours",
        hint="without accounts it forgets a job minutes after its end: name the log file",
    )

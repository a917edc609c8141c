"""What a scheduler has to offer; `registry.py` finds those of this installation."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from .job import Job, JobList


@runtime_checkable
class Scheduler(Protocol):
    """Tells what jobs there are and what is known about each; it never changes one.

    Every method may be called as often as one likes: how often the cluster is really asked is the
    scheduler's own business. None of them may take longer than a few seconds.
    """

    @property
    def name(self) -> str:
        """One lower-case word, such as `slurm`."""

    def is_available(self) -> bool:
        """True if its commands are installed here; asks nobody."""

    def own_jobs(self) -> JobList:
        """The jobs of this user: waiting, running and lately ended; never raises."""

    def job(self, job_id: str) -> Job:
        """What is known about one job; InputError says why there is nothing."""

    def jobs(self, job_id: str) -> JobList:
        """All that an id stands for: a job, the tasks of an array; InputError as for `job`."""

    def parse_name(self, text: str) -> str | None:
        """The id of the job that a name given by the user stands for; None if it is none."""

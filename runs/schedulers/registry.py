"""The schedulers of this installation: Slurm, and those that other packages register.

A package adds one under the entry point group `mltd.schedulers`; the entry point names a class
(or a function) that gives a `Scheduler`. One that fails is noted and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar

from ..errors import InputError, MltdError
from .job import Job, JobList
from .names import PREFIX
from .scheduler import Scheduler

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "mltd.schedulers"
T = TypeVar("T")
_NEEDED = ("name", "is_available", "own_jobs", "job", "jobs", "parse_name")


@dataclass
class Schedulers:
    """Schedulers in order of precedence, and what went wrong with any of them."""

    all: list[Scheduler]
    notes: list[str] = field(default_factory=list)
    """Sentences about schedulers that could not be used; each is said once."""

    def available(self) -> list[Scheduler]:
        """Those whose commands are installed here."""
        return [one for one in self.all if self._try(one, one.is_available, False)]

    def own_jobs(self) -> JobList:
        """The jobs of this user, of all schedulers; the age is that of the oldest answer."""
        lists = [self._try(one, partial(_own_jobs, one), JobList()) for one in self.available()]
        moments = [found.asked for found in lists if found.asked is not None]
        notes = dict.fromkeys([*self.notes, *(note for found in lists for note in found.notes)])
        jobs = tuple(job for found in lists for job in found.jobs)
        return JobList(jobs, tuple(notes), min(moments, default=None))

    def claim(self, text: str) -> tuple[Scheduler, str] | None:
        """Who knows the job that a name stands for, and its id; None if it stands for no job."""
        claims: list[tuple[Scheduler, str]] = []
        for one in self.all:
            job_id = self._try(one, partial(one.parse_name, text), None)
            if isinstance(job_id, str):
                claims.append((one, job_id))
        if not claims:
            if text.startswith(PREFIX):
                raise InputError(
                    f"{text!r} names no job",
                    hint="write job:48213, or job:48213_7 for a task of an array",
                )
            return None
        usable = self.available()
        return next((claim for claim in claims if claim[0] in usable), claims[0])

    def job(self, text: str) -> Job | None:
        """The job that a name stands for; None if it stands for no job."""
        claim = self.claim(text)
        return None if claim is None else _ask(claim[0], claim[1], claim[0].job)

    def jobs(self, text: str) -> JobList | None:
        """All jobs that a name stands for; None if it stands for none."""
        claim = self.claim(text)
        return None if claim is None else _ask(claim[0], claim[1], claim[0].jobs)

    def _try(self, one: Scheduler, ask: Callable[[], T], otherwise: T) -> T:
        try:
            return ask()
        except Exception as problem:  # noqa: BLE001 - other people's code
            sentence = f"scheduler '{one.name}' fails: {type(problem).__name__}: {problem}"
            if sentence not in self.notes:
                self.notes.append(sentence)
            return otherwise


def _own_jobs(one: Scheduler) -> JobList:
    found = one.own_jobs()
    if not isinstance(found, JobList):
        raise TypeError(f"own_jobs gave {type(found).__name__} instead of a JobList")
    return found


def _ask(one: Scheduler, job_id: str, ask: Callable[[str], T]) -> T:
    try:
        return ask(job_id)
    except MltdError:
        raise
    except Exception as problem:
        raise InputError(
            f"scheduler '{one.name}' fails at job {job_id}: {type(problem).__name__}: {problem}",
            hint="name the job's log file instead",
        ) from problem


def load(points: Iterable[EntryPoint]) -> Schedulers:
    """Slurm and the schedulers of the given entry points."""
    from .slurm import Slurm

    found = Schedulers([Slurm()])
    for point in sorted(points, key=lambda p: (p.name, p.value)):
        try:
            make: Callable[[], Scheduler] | Scheduler = point.load()
            one = make() if callable(make) else make
            for needed in _NEEDED:
                getattr(one, needed)
        except Exception as problem:  # noqa: BLE001 - other people's code
            found.notes.append(
                f"scheduler '{point.name}' ({point.value}) cannot be loaded: "
                f"{type(problem).__name__}: {problem}"
            )
            continue
        found.all.append(one)
    return found


@lru_cache(maxsize=1)
def default_schedulers() -> Schedulers:
    """The schedulers of this installation, looked up once."""
    from importlib.metadata import entry_points  # 25 ms that only whoever has jobs should pay

    return load(entry_points(group=GROUP))

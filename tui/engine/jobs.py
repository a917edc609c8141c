"""Asks the schedulers for the user's jobs, in a thread of its own: a cluster may take seconds."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mltd.runs.discovery import RunFiles
    from mltd.runs.schedulers.job import Job, JobList
    from mltd.runs.schedulers.registry import Schedulers

ASK_EVERY = 30.0
"""Seconds; login nodes have rules, and the schedulers' own caches are as patient."""
SOONEST = 2.0
"""Seconds between two looks at whether there are runs that might have a job."""
SETTLE_SECONDS = 3.0
"""Seconds after which even those who have no Slurm pay for a look at other schedulers."""
LISTED_SECONDS = 86_400.0
"""How long ago a job may have ended to be listed."""
MOST_ENDED = 100
_PROGRAMS = ("squeue", "scontrol", "sacct")
_CONFIGURATIONS = (
    "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf",
    "/usr/local/etc/slurm.conf", "/opt/slurm/etc/slurm.conf",
)  # fmt: skip

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class HeardJobs:
    """The user's jobs at one moment, and what they have to do with runs."""

    jobs: Sequence[Job] = ()
    runs: Sequence[RunFiles] = ()
    """What the jobs worth listing write: those that run first, then those that ended, then those
    that wait."""
    attached: Mapping[int, Job] = field(default_factory=dict)
    """Jobs of runs that were known already, by the runs' numbers."""
    asked_at: float | None = None
    notes: tuple[str, ...] = ()
    is_asking: bool = False
    """There is a scheduler, and its first answer is still to come."""


def key_of(job: Job) -> Key:
    """What a job is known by; tasks that wait together are one, whichever still do."""
    waits_together = job.array_tasks is not None and job.array_id is not None
    return job.scheduler, f"{job.array_id}_[]" if waits_together else job.id


class JobWatch:
    """Hands over what it hears every 30 s; where there is no scheduler it ends at once."""

    def __init__(
        self,
        hand_over: Callable[[HeardJobs], None],
        runs: Callable[[], Sequence[RunFiles]],
        *,
        schedulers: Callable[[], Schedulers] | None = None,
        now: Callable[[], float] = time.time,
        delay: float = 0.0,
    ) -> None:
        self._hand_over = hand_over
        self._runs = runs
        self._given = schedulers
        self._now = now
        self._delay = delay
        self._end = threading.Event()
        self._ended: dict[Key, RunFiles] = {}
        """Files of jobs that are over: where those lie does not change any more."""

    def start(self) -> None:
        """Begin to ask."""
        threading.Thread(target=self._watch, name="jobs", daemon=True).start()

    def close(self) -> None:
        """Ask no more."""
        self._end.set()

    def _watch(self) -> None:
        try:
            self._ask_on()
        except Exception as problem:  # noqa: BLE001 - runs go on without their jobs
            note = f"jobs cannot be listed: {type(problem).__name__}: {problem}"
            self._hand_over(HeardJobs(notes=(note,)))

    def _ask_on(self) -> None:
        has_slurm = any(shutil.which(program) for program in _PROGRAMS)
        is_expected = self._given is not None or (has_slurm and _is_set_up())
        self._end.wait(self._delay if has_slurm or self._given else SETTLE_SECONDS)
        schedulers = self._load()
        if self._end.is_set() or not schedulers.available():
            return
        if is_expected:
            self._hand_over(HeardJobs(is_asking=True))
        while not self._end.is_set():
            found = schedulers.own_jobs()
            if not is_expected and found.asked is None and not found.jobs:
                return  # commands without a cluster: nothing that its owner needs to be told
            is_expected = True
            self._tell_until_due(found)

    def _load(self) -> Schedulers:
        if self._given is not None:
            return self._given()
        from mltd.runs.schedulers.registry import default_schedulers

        return default_schedulers()

    def _tell_until_due(self, found: JobList) -> None:
        """Hand over a list, once more whenever other runs are known, until it is time to ask."""
        age = 0.0 if found.asked is None else max(0.0, self._now() - found.asked)
        # An answer that is older than that is the best that can be had.
        due = time.monotonic() + (ASK_EVERY - age if age < ASK_EVERY else ASK_EVERY)
        listed = self._listed(found.jobs)
        known = -1
        while not self._end.is_set() and (left := due - time.monotonic()) > 0:
            runs = list(self._runs())
            if len(runs) != known:
                attached = _attached(runs, found.jobs)
                self._hand_over(
                    HeardJobs(found.jobs, listed, attached, found.asked, tuple(found.notes))
                )
                # Those that were added because of what was just handed over have their job.
                known = len(runs)
            self._end.wait(min(SOONEST, left))

    def _listed(self, jobs: Sequence[Job]) -> list[RunFiles]:
        running = [job for job in jobs if not (job.is_waiting or job.is_over)]
        waiting = [job for job in jobs if job.is_waiting]
        oldest = self._now() - LISTED_SECONDS
        over = [job for job in jobs if job.is_over and (job.end is None or job.end > oldest)]
        over.sort(key=lambda job: -(job.end or 0.0))
        return [self._run_of(job) for job in (*running, *over[:MOST_ENDED], *waiting)]

    def _run_of(self, job: Job) -> RunFiles:
        from mltd.runs.discovery.jobs import run_of_job

        kept = self._ended.get(key_of(job))
        if kept is not None and job.is_over:
            return replace(kept, job=job)
        files = run_of_job(job)
        if job.is_over:
            self._ended[key_of(job)] = files
        return files


def _attached(runs: Sequence[RunFiles], jobs: Sequence[Job]) -> dict[int, Job]:
    from mltd.runs.schedulers.attaching import job_of

    found: dict[int, Job] = {}
    for number, files in enumerate(runs):
        job = job_of(files, jobs)
        if job is not None:
            found[number] = job
    return found


def _is_set_up() -> bool:
    """True if this machine belongs to a cluster, as far as costs nothing to find out."""
    return "SLURM_CONF" in os.environ or any(map(os.path.exists, _CONFIGURATIONS))

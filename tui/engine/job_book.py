"""Which run each of the user's jobs trains, from one answer of the schedulers to the next."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mltd.runs.discovery import RunFiles
from mltd.runs.ingest import LOG_PURPOSES

from .job_row import JobRow
from .jobs import HeardJobs, Key, key_of
from .protocol import JobsAsked, RunRow

if TYPE_CHECKING:
    from mltd.runs.schedulers.job import Job

    from .catalogue import Catalogue

FORGOTTEN = "the scheduler does not list it any more"


@dataclass(slots=True)
class Changes:
    """Numbers of the runs that an answer has something new about."""

    told: set[int] = field(default_factory=set)
    """Their jobs are described otherwise."""
    moved: set[int] = field(default_factory=set)
    """Their jobs are in another state: the verdict may be another one, too."""
    files: set[int] = field(default_factory=set)
    """They are written elsewhere than was known before."""
    has_new: bool = False
    """There are runs that were not known, or names that were not."""


class JobBook:
    """Puts jobs and runs together; a job keeps its run's number, also while it waits again."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.asked = JobsAsked()
        self._rows: dict[Key, int] = {}
        """Runs that are here because of their job alone, by that job."""
        self._extras: set[int] = set()
        self._gone: set[int] = set()

    def dressed(self, row: RunRow) -> RunRow:
        """A row with all that is known about its job."""
        number = row.run
        return row._replace(
            job=self.row_of(number),
            is_extra=number in self._extras,
            is_gone=number in self._gone,
        )

    def row_of(self, number: int) -> JobRow | None:
        """The job of a run as the screen shows it."""
        job = self._catalogue.runs[number].job
        return None if job is None else job_row(job)

    def take(self, heard: HeardJobs) -> Changes:
        """An answer has come."""
        changes = Changes()
        self.asked = JobsAsked(
            heard.asked_at if heard.asked_at is not None else self.asked.asked_at,
            heard.notes,
            heard.is_asking,
        )
        if heard.is_asking:
            return changes
        shown: dict[Key, int] = {}
        claimed: dict[int, Key] = {}
        for number, job in heard.attached.items():
            if number in self._gone:
                continue
            self._describe(number, job, changes)
            shown.setdefault(key_of(job), number)
            if job.is_running:
                claimed[number] = key_of(job)
        for files in heard.runs:
            assert files.job is not None
            key = key_of(files.job)
            number = shown.get(key, -1)
            is_ours = number in self._extras or self._catalogue.is_kept(number)
            if number < 0 or is_ours or claimed.get(number, key) != key:
                number = self._place(files, claimed, changes)
            elif files.files and not self._catalogue.runs[number].files:
                self._catalogue.put(files, number)
                changes.files.add(number)
            claimed[number] = key
            self._show(key, number, changes)
            self._describe(number, files.job, changes)
        self._forget(heard, changes)
        return changes

    def _place(self, files: RunFiles, claimed: Mapping[int, Key], changes: Changes) -> int:
        """The number of the run that a job writes: a known one, or a new one."""
        assert files.job is not None
        key = key_of(files.job)
        own = self._rows.get(key)
        number = self._catalogue.find(files)
        is_foreign = number is not None and number != own and not self._catalogue.is_kept(number)
        if _is_taken(number, key, claimed) or (is_foreign and files.job.is_waiting):
            # Several jobs write one file in turn: it shows the one that runs or ran.
            files = replace(files, files=[])
            number = None
        if number is None and not _is_taken(own, key, claimed):
            number = own
        if number is None or self._catalogue.is_kept(number):
            number = self._catalogue.put(files, number)
            changes.files.add(number)
            self._rows[key] = number
            self._extras.add(number)
            changes.has_new = True
        elif number == own and not _logs(files) <= _logs(self._catalogue.runs[number]):
            self._catalogue.put(files, number)
            changes.files.add(number)
        return number

    def _show(self, key: Key, number: int, changes: Changes) -> None:
        """A job has one row: the one that it had while it waited goes if it has another now."""
        own = self._rows.get(key)
        if own is not None and own != number and own not in self._gone:
            self._gone.add(own)
            changes.told.add(own)
        if number in self._gone:
            self._gone.discard(number)
            changes.told.add(number)

    def _describe(self, number: int, job: Job, changes: Changes) -> None:
        from mltd.runs.discovery.jobs import run_name

        files = self._catalogue.runs[number]
        before, files.job = files.job, job
        if before != job:
            changes.told.add(number)
        if before is None or (before.state, before.restarts) != (job.state, job.restarts):
            changes.moved.add(number)
        if number in self._extras and files.name != run_name(job):
            files.name = run_name(job)
            changes.has_new = True

    def _forget(self, heard: HeardJobs, changes: Changes) -> None:
        """What was alive and is not listed any more has ended, nobody knows how."""
        from mltd.runs.schedulers.job import JobState

        listed = {key_of(job) for job in heard.jobs}
        answering = {job.scheduler for job in heard.jobs}
        for number, files in enumerate(self._catalogue.runs):
            job = files.job
            if job is None or job.is_over or job.state is JobState.UNKNOWN:
                continue
            is_answer = heard.asked_at is not None and heard.asked_at > (job.asked or 0.0)
            if key_of(job) in listed or not is_answer:
                continue
            if heard.notes and job.scheduler not in answering:
                continue  # perhaps nobody could ask the one that knows it
            if job.is_waiting and number in self._extras and not _is_written(files):
                self._gone.add(number)
                changes.told.add(number)
            ended = replace(job, state=JobState.UNKNOWN, reason=None, reason_words=FORGOTTEN)
            self._describe(number, ended, changes)


def _is_taken(number: int | None, key: Key, claimed: Mapping[int, Key]) -> bool:
    return number is not None and claimed.get(number, key) != key


def job_row(job: Job) -> JobRow:
    """A job in plain values."""
    from mltd.runs.schedulers.job import JobState

    phase = "over" if job.is_over else "waiting" if job.is_waiting else "running"
    return JobRow(
        id=job.id,
        name=job.name or "",
        state=job.state.value,
        phase="unknown" if job.state is JobState.UNKNOWN else phase,
        elapsed=_number(job.elapsed),
        limit=None if job.time_limit is None else max(0.0, job.time_limit),
        reason=job.reason or "",
        reason_words=job.reason_words or "",
        starts_at=_number(job.expected_start),
        ended_at=_number(job.end),
        asked_at=_number(job.asked),
        nodes=job.nodes or "",
        restarts=job.restarts or 0,
        ending=_ending(job),
        is_ticking=job.is_running and job.state not in (JobState.SUSPENDED, JobState.STOPPED),
    )


def _number(value: float | None) -> float | None:
    """A number that can be reckoned with: schedulers of other packages may say anything."""
    return value if value is not None and math.isfinite(value) else None


def _ending(job: Job) -> str:
    if not job.is_over:
        return ""
    if job.cancelled_by:
        return f"by {job.cancelled_by}"
    if job.signal:
        return job.signal_name or f"signal {job.signal}"
    return f"exit code {job.exit_code}" if job.exit_code else ""


def _logs(files: RunFiles) -> set[str]:
    return {os.path.abspath(path) for path in files.paths(*LOG_PURPOSES)}


def _is_written(files: RunFiles) -> bool:
    return any(map(os.path.exists, files.paths(*LOG_PURPOSES)))

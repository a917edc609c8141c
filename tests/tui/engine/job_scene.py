"""Jobs for tests: made up, and a scheduler that tells of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mltd.runs.errors import InputError
from mltd.runs.schedulers.job import Job, JobList, JobState
from mltd.runs.schedulers.registry import Schedulers

ASKED = 1_700_000_000.0
HOUR = 3600.0


def make_job(job_id: str = "48213", state: JobState = JobState.RUNNING, **facts: Any) -> Job:
    """A job of which the usual things are known."""
    usual: dict[str, Any] = {
        "name": "resnet",
        "asked": ASKED,
        "time_limit": 4 * HOUR,
        "raw_id": int(job_id) if job_id.isdigit() else None,
    }
    if state is JobState.RUNNING:
        usual |= {"elapsed": HOUR, "start": ASKED - HOUR, "nodes": "gpu03"}
    if state.is_over:
        usual |= {"elapsed": HOUR, "start": ASKED - 2 * HOUR, "end": ASKED - HOUR}
    return Job(id=job_id, state=state, **{**usual, **facts})


def write_steps(path: Path, count: int, first: int = 1) -> Path:
    """A log of so many steps."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for step in range(first, first + count):
            file.write(f"step {step}/1000 loss {4 * 0.99**step + 0.5:.4f} lr 3e-4\n")
    return path


@dataclass
class FakeScheduler:
    """Tells whatever a test wants it to, and counts how often it is asked."""

    answers: list[JobList] = field(default_factory=list)
    """One after another; the last one stays."""
    name: str = "slurm"
    times_asked: int = 0

    def is_available(self) -> bool:
        """It is always here."""
        return True

    def parse_name(self, text: str) -> str | None:
        """Any name that begins as those of jobs do."""
        return text.removeprefix("job:") if text.startswith("job:") else None

    def own_jobs(self) -> JobList:
        """The next answer."""
        self.times_asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def jobs(self, job_id: str) -> JobList:
        """Those of the present answer that have this id."""
        found = tuple(job for job in self.answers[0].jobs if job.id == job_id)
        if not found:
            raise InputError(f"there is no job {job_id}")
        return JobList(found, asked=self.answers[0].asked)

    def job(self, job_id: str) -> Job:
        """The first of them."""
        return self.jobs(job_id).jobs[0]


def schedulers_of(*answers: JobList) -> Schedulers:
    """All the schedulers that there are: one that tells this."""
    return Schedulers([FakeScheduler(list(answers))])

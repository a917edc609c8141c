"""The run behind a job: its logs if it has written some, and where they will be if not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.discovery import explore
from mltd.runs.discovery.jobs import JobWithoutLog, run_name, run_of_job
from mltd.runs.schedulers.job import Job, JobList, JobState
from mltd.runs.schedulers.registry import Schedulers


class One:
    """A scheduler that knows one job."""

    name = "one"

    def __init__(self, *jobs: Job) -> None:
        self._jobs = JobList(jobs)

    def is_available(self) -> bool:
        return True

    def parse_name(self, text: str) -> str | None:
        return text.removeprefix("job:")

    def own_jobs(self) -> JobList:
        return self._jobs

    def jobs(self, job_id: str) -> JobList:
        return self._jobs

    def job(self, job_id: str) -> Job:
        return self._jobs.jobs[0]


def know(monkeypatch: pytest.MonkeyPatch, *jobs: Job) -> None:
    schedulers = Schedulers([One(*jobs)])
    monkeypatch.setattr("mltd.runs.schedulers.registry.default_schedulers", lambda: schedulers)


def test_of_a_job_that_writes_the_files_that_exist_are_read(tmp_path: Path) -> None:
    log = tmp_path / "7.out"
    log.write_text("step 1 loss 2\n")
    job = Job(id="7", name="gpt", stdout=str(log), stderr=str(tmp_path / "7.err"))
    files = run_of_job(job)
    assert (files.name, files.root, files.job) == ("7 gpt", str(tmp_path), job)
    assert [file.path for file in files.files] == [str(log)]


def test_of_a_job_that_waits_the_files_that_it_names_are_waited_for(tmp_path: Path) -> None:
    job = Job(id="7", stdout=str(tmp_path / "7.out"), stderr=str(tmp_path / "7.err"))
    assert {file.path for file in run_of_job(job).files} == {job.stdout, job.stderr}
    assert run_name(job) == "7"


def test_a_job_of_which_no_file_is_known_is_a_run_all_the_same(tmp_path: Path) -> None:
    files = run_of_job(Job(id="7_[1-3]", work_dir=str(tmp_path)))
    assert (files.files, files.root, files.is_readable) == ([], str(tmp_path), False)
    assert run_of_job(Job(id="7")).root == "."


def test_whoever_can_wait_is_told_what_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(id="7", state=JobState.PENDING, stdout=str(tmp_path / "7.out"))
    know(monkeypatch, job)
    with pytest.raises(JobWithoutLog, match="job 7 is pending and has no log yet") as raised:
        explore("job:7")
    assert [run.job for run in raised.value.runs] == [job]


def test_tasks_without_a_log_do_not_hide_those_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "7_1.out"
    log.write_text("step 1 loss 2\n")
    know(monkeypatch, Job(id="7_1", stdout=str(log)), Job(id="7_[2-3]", state=JobState.PENDING))
    assert [run.name for run in explore("job:7").runs] == ["7_1"]

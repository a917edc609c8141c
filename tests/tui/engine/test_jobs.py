"""The engine asks for jobs in a thread of its own, and its main loop makes runs of them."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.discovery import RunFiles
from mltd.runs.discovery.jobs import run_of_job
from mltd.runs.schedulers.job import Job, JobList, JobState
from mltd.runs.schedulers.registry import Schedulers
from mltd.tui.engine import jobs as jobs_module
from mltd.tui.engine.jobs import HeardJobs, JobWatch
from mltd.tui.engine.protocol import (
    Diagnosed,
    JobsAsked,
    Open,
    Rows,
    RunRow,
    RunsFound,
    Select,
    StatusChanged,
    Survey,
)

from .job_scene import ASKED, FakeScheduler, make_job, schedulers_of, write_steps
from .test_service import Desk

PATIENCE = 60.0


class Ear:
    """What a watch hands over, one answer after another."""

    def __init__(self, schedulers: Schedulers, *runs: RunFiles) -> None:
        self.runs = list(runs)
        self._heard: queue.Queue[HeardJobs] = queue.Queue()
        self.watch = JobWatch(
            self._heard.put, lambda: self.runs, schedulers=lambda: schedulers, now=lambda: ASKED
        )
        self.watch.start()

    def next(self) -> HeardJobs:
        return self._heard.get(timeout=PATIENCE)

    @property
    def is_silent(self) -> bool:
        return self._heard.empty()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "ASK_EVERY", 0.05)
    monkeypatch.setattr(jobs_module, "SOONEST", 0.01)


def test_jobs_are_asked_for_again_and_again_and_it_is_said_when_that_begins() -> None:
    scheduler = FakeScheduler([JobList((make_job(),), asked=ASKED), JobList(asked=ASKED)])
    ear = Ear(Schedulers([scheduler]))
    assert ear.next().is_asking
    assert [job.id for job in ear.next().jobs] == ["48213"]
    assert ear.next().jobs == ()
    ear.watch.close()
    assert scheduler.times_asked >= 2


def test_runs_that_are_known_get_their_jobs_also_those_that_come_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "ASK_EVERY", 600.0)
    log = write_steps(tmp_path / "train.log", 3)
    job = make_job(stdout=str(log))
    scheduler = FakeScheduler([JobList((job,), asked=ASKED)])
    ear = Ear(Schedulers([scheduler]))
    assert ear.next().is_asking
    assert ear.next().attached == {}
    files = run_of_job(job)
    files.job = None
    ear.runs.append(files)
    assert ear.next().attached == {0: job}
    ear.watch.close()
    assert scheduler.times_asked == 1


def test_jobs_that_run_come_first_and_what_ended_long_ago_is_left_out() -> None:
    day = 86_400.0
    told: tuple[Job, ...] = (
        make_job("1", JobState.PENDING),
        make_job("2", JobState.FAILED, end=ASKED - 2 * day),
        make_job("3", JobState.FAILED, end=ASKED - day / 2),
        make_job("4", JobState.COMPLETED, end=ASKED - 60),
        make_job("5"),
        make_job("6", JobState.COMPLETED, end=None),
    )
    ear = Ear(schedulers_of(JobList(told, asked=ASKED)))
    ear.next()
    listed = [files.job.id for files in ear.next().runs if files.job is not None]
    ear.watch.close()
    assert listed == ["5", "4", "3", "6", "1"]


def test_of_hundreds_of_ended_jobs_the_last_are_listed() -> None:
    told = tuple(make_job(f"{n}", JobState.COMPLETED, end=ASKED - n) for n in range(1, 300))
    ear = Ear(schedulers_of(JobList(told, asked=ASKED)))
    ear.next()
    listed = [files.job.id for files in ear.next().runs if files.job is not None]
    ear.watch.close()
    assert (listed[0], len(listed)) == ("1", jobs_module.MOST_ENDED)


def test_where_a_job_that_is_over_wrote_is_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def spy(job: Job) -> RunFiles:
        looked.append(job.id)
        return run_of_job(job)

    monkeypatch.setattr("mltd.runs.discovery.jobs.run_of_job", spy)
    told = (make_job("1"), make_job("2", JobState.FAILED, work_dir=str(tmp_path)))
    ear = Ear(schedulers_of(JobList(told, asked=ASKED)))
    for _ in range(4):
        ear.next()
    ear.watch.close()
    assert looked.count("2") == 1 < looked.count("1")


def test_a_scheduler_that_breaks_is_told_in_a_sentence() -> None:
    class Broken(Schedulers):
        def own_jobs(self) -> JobList:
            raise RuntimeError("no idea")

    ear = Ear(Broken([FakeScheduler([JobList()])]))
    assert ear.next().is_asking
    assert ear.next().notes == ("jobs cannot be listed: RuntimeError: no idea",)


def test_without_any_scheduler_nothing_is_said() -> None:
    ear = Ear(Schedulers([]))
    deadline = time.monotonic() + PATIENCE
    while any(thread.name == "jobs" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)  # a thread's end can only be looked for
    assert ear.is_silent


COSTS = """
import sys, threading, time
from mltd.tui.engine import jobs
jobs.SETTLE_SECONDS = 600  # a daemon: nobody waits for it
watch = jobs.JobWatch(print, list)
watch.start()
time.sleep(0.1)
print([name for name in ("mltd.runs.schedulers.registry", "importlib.metadata", "subprocess")
       if name in sys.modules])
"""


def test_where_slurm_is_not_installed_nothing_is_loaded_at_the_start(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COSTS],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


# -- the main loop -------------------------------------------------------------------------


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    desk.now = time.time()
    yield desk
    desk.watcher.close()


def heard(desk: Desk, *jobs: Job, notes: tuple[str, ...] = ()) -> HeardJobs:
    """What the thread would hand over now."""
    runs = [run_of_job(job) for job in jobs]
    attached = jobs_module._attached(desk.service.runs(), jobs)
    return HeardJobs(jobs, runs, attached, desk.now, notes)


def rows_of(desk: Desk) -> dict[int, RunRow]:
    found: dict[int, RunRow] = {}
    for news in desk.news:
        if isinstance(news, RunsFound | Rows):
            found.update({row.run: row for row in news.rows})
    return found


def test_a_job_is_a_run_of_the_picker_and_is_surveyed_like_one(desk: Desk, tmp_path: Path) -> None:
    log = write_steps(tmp_path / "elsewhere" / "job.out", 60)
    (tmp_path / "here").mkdir()
    desk.inbox.wish(Open((str(tmp_path / "here"),), is_survey=True))
    desk.inbox.wish(Survey(True))
    desk.until(lambda: desk.of(RunsFound))
    desk.inbox.jobs(HeardJobs(is_asking=True))
    desk.until(lambda: desk.of(JobsAsked))
    assert desk.of(JobsAsked)[-1].is_asking
    desk.inbox.jobs(heard(desk, make_job(stdout=str(log), asked=desk.now)))
    desk.until(lambda: rows_of(desk).get(0) and rows_of(desk)[0].step == 60)
    row = rows_of(desk)[0]
    assert (row.name, row.is_extra, row.job and row.job.nodes) == ("48213 resnet", True, "gpu03")
    assert desk.of(JobsAsked)[-1] == JobsAsked(desk.of(JobsAsked)[-1].asked_at)


def test_a_run_that_is_followed_is_judged_again_with_its_job(desk: Desk, tmp_path: Path) -> None:
    log = write_steps(tmp_path / "train.log", 60)
    desk.inbox.wish(Open((str(log),)))
    desk.inbox.wish(Select(0))
    desk.until(lambda: desk.of(Diagnosed))
    assert desk.status().status.job is None
    job = make_job(stdout=str(log), asked=desk.now)
    desk.inbox.jobs(heard(desk, job))
    desk.until(lambda: desk.status().status.job is not None)
    assert desk.service._followed[0].run.job == job
    assert len(rows_of(desk)) == 1
    verdicts = len(desk.of(Diagnosed))
    over = make_job(state=JobState.TIMEOUT, stdout=str(log), end=None, asked=desk.now + 30)
    desk.inbox.jobs(heard(desk, over))
    desk.until(lambda: len(desk.of(Diagnosed)) > verdicts)
    assert "slurm_timeout" in {f.id for f in desk.of(Diagnosed)[-1].diagnosis.findings}


def test_a_row_that_nobody_follows_is_judged_again_when_its_job_ends(
    desk: Desk, tmp_path: Path
) -> None:
    log = write_steps(tmp_path / "job.out", 60)
    desk.inbox.wish(Open((str(tmp_path),), is_survey=True))
    desk.inbox.wish(Survey(True))
    desk.inbox.jobs(heard(desk, make_job(stdout=str(log), asked=desk.now)))
    desk.until(lambda: rows_of(desk).get(0) and rows_of(desk)[0].step == 60)
    assert "time limit" not in rows_of(desk)[0].headline
    over = make_job(state=JobState.TIMEOUT, stdout=str(log), end=None, asked=desk.now + 30)
    desk.inbox.jobs(heard(desk, over))
    desk.until(lambda: "limit" in rows_of(desk)[0].headline)


def test_a_job_that_waits_is_opened_and_its_log_followed_when_it_appears(
    desk: Desk, tmp_path: Path
) -> None:
    log = tmp_path / "later.out"
    desk.inbox.wish(Open((str(tmp_path),), is_survey=True))
    waiting = make_job(state=JobState.PENDING, stdout=str(log), asked=desk.now)
    desk.inbox.jobs(heard(desk, waiting))
    desk.inbox.wish(Select(0))
    desk.until(lambda: desk.of(RunsFound) and desk.of(RunsFound)[-1].rows)
    desk.inbox.wish(Select(0))
    desk.until(lambda: desk.of(StatusChanged))
    status = desk.status().status
    assert status.job is not None
    assert (status.job.is_waiting, status.last_line_at) == (True, None)
    assert not desk.of(Diagnosed), "there is nothing to judge"
    desk.until(lambda: not desk.service._followed[0].has_work)
    assert desk.service._patience() > 0, "and nothing to do meanwhile"
    write_steps(log, 30)
    desk.inbox.changed({log})
    desk.until(lambda: desk.status().status.step == 30)
    desk.until(lambda: desk.of(Diagnosed))


def test_a_job_without_a_log_is_opened_by_its_name(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = make_job(state=JobState.PENDING, stdout=str(tmp_path / "later.out"))
    schedulers = schedulers_of(JobList((waiting,), asked=ASKED))
    monkeypatch.setattr(
        "mltd.runs.schedulers.registry.default_schedulers", lambda: schedulers, raising=True
    )
    desk.inbox.wish(Open(("job:48213",)))
    desk.until(lambda: desk.of(StatusChanged))
    found = desk.of(RunsFound)[0]
    assert ([row.name for row in found.rows], found.problems) == (["48213 resnet"], ())
    assert found.rows[0].job is not None
    assert not found.rows[0].is_extra


def test_a_job_that_is_not_known_is_a_problem_as_before(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedulers = schedulers_of(JobList(asked=ASKED))
    monkeypatch.setattr("mltd.runs.schedulers.registry.default_schedulers", lambda: schedulers)
    desk.inbox.wish(Open(("job:48213",)))
    desk.until(lambda: desk.of(RunsFound))
    assert desk.of(RunsFound)[0].problems == ("there is no job 48213",)


def test_a_directory_that_is_looked_through_again_keeps_the_jobs_of_its_runs(
    desk: Desk, tmp_path: Path
) -> None:
    log = write_steps(tmp_path / "here" / "job.out", 30)
    elsewhere = write_steps(tmp_path / "logs" / "job.err", 1)
    desk.inbox.wish(Open((str(tmp_path / "here"),), is_survey=True))
    desk.until(lambda: desk.of(RunsFound))
    job = make_job(stdout=str(log), stderr=str(elsewhere), asked=desk.now)
    desk.inbox.jobs(heard(desk, job))
    desk.until(lambda: rows_of(desk)[0].job is not None)
    before = len(desk.of(RunsFound))
    write_steps(tmp_path / "here" / "job.rank1.out", 30)
    desk.until(lambda: len(desk.of(RunsFound)) > before)
    assert rows_of(desk)[0].job is not None

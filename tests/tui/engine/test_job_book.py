"""Jobs and runs are put together, from one answer of the schedulers to the next."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from mltd.runs.discovery.jobs import run_of_job
from mltd.runs.schedulers.job import Job, JobState
from mltd.tui.engine.catalogue import Catalogue
from mltd.tui.engine.job_book import Changes, JobBook, job_row
from mltd.tui.engine.jobs import HeardJobs, _attached
from mltd.tui.engine.protocol import RunRow

from .job_scene import ASKED, make_job, write_steps


class Scene:
    """A catalogue, its jobs, and answers that come when the test says so."""

    def __init__(self) -> None:
        self.catalogue = Catalogue()
        self.book = JobBook(self.catalogue)
        self.asked = ASKED

    def hear(self, *jobs: Job, notes: tuple[str, ...] = ()) -> Changes:
        self.asked += 30
        told = [replace(job, asked=self.asked) for job in jobs]
        ranked = sorted(told, key=lambda job: (job.is_waiting, job.is_over))
        runs = [run_of_job(job) for job in ranked]
        attached = _attached(self.catalogue.runs, told)
        return self.book.take(HeardJobs(told, runs, attached, self.asked, notes))

    def row(self, number: int) -> RunRow:
        files = self.catalogue.runs[number]
        return self.book.dressed(RunRow(number, files.name, files.root))

    @property
    def rows(self) -> list[RunRow]:
        every = [self.row(number) for number in range(len(self.catalogue.runs))]
        return [row for row in every if not row.is_gone]


def test_a_job_that_nobody_named_becomes_a_run_with_its_log(tmp_path: Path) -> None:
    scene = Scene()
    log = write_steps(tmp_path / "slurm-48213.out", 3)
    changes = scene.hear(make_job(stdout=str(log), work_dir=str(tmp_path)))
    assert changes.has_new
    (row,) = scene.rows
    assert (row.name, row.path, row.is_extra) == ("48213 resnet", str(tmp_path), True)
    assert row.job is not None
    assert (row.job.state, row.job.nodes, row.job.is_running) == ("RUNNING", "gpu03", True)
    assert scene.catalogue.runs[0].files[0].path == str(log)


def test_a_run_that_was_named_gets_its_job_and_no_second_row(tmp_path: Path) -> None:
    scene = Scene()
    log = write_steps(tmp_path / "slurm-48213.out", 3)
    scene.catalogue.add((str(log),))
    changes = scene.hear(make_job(stdout=str(log)))
    assert (changes.has_new, changes.told) == (False, {0})
    (row,) = scene.rows
    assert (row.name, row.is_extra) == ("slurm-48213.out", False)
    assert row.job is not None
    assert row.job.id == "48213"


def test_a_job_that_waits_is_listed_and_keeps_its_number_when_it_runs(tmp_path: Path) -> None:
    scene = Scene()
    log = tmp_path / "later.out"
    waiting = make_job(state=JobState.PENDING, stdout=str(log), reason="Resources")
    scene.hear(waiting)
    assert [file.path for file in scene.catalogue.runs[0].files] == [str(log)]
    write_steps(log, 3)
    changes = scene.hear(make_job(stdout=str(log)))
    assert (changes.has_new, changes.moved, changes.files) == (False, {0}, set())
    assert [row.job and row.job.state for row in scene.rows] == ["RUNNING"]


def test_a_log_that_is_known_only_when_the_job_runs_is_followed_then(tmp_path: Path) -> None:
    scene = Scene()
    scene.hear(make_job(state=JobState.PENDING))
    assert scene.catalogue.runs[0].files == []
    log = write_steps(tmp_path / "gpu03.out", 3)
    changes = scene.hear(make_job(stdout=str(log)))
    assert changes.files == {0}
    assert [file.path for file in scene.catalogue.runs[0].files] == [str(log)]


def test_the_same_for_a_job_that_was_named_while_it_waited(tmp_path: Path) -> None:
    scene = Scene()
    scene.catalogue.put(run_of_job(make_job(state=JobState.PENDING)))
    log = write_steps(tmp_path / "gpu03.out", 3)
    changes = scene.hear(make_job(stdout=str(log)))
    assert changes.files == {0}
    assert [row.is_extra for row in scene.rows] == [False]


def test_a_requeued_job_keeps_its_row_and_tells_its_restarts(tmp_path: Path) -> None:
    scene = Scene()
    log = write_steps(tmp_path / "job.out", 3)
    scene.hear(make_job(stdout=str(log)))
    changes = scene.hear(
        make_job(state=JobState.PENDING, stdout=str(log), restarts=1, reason="BeginTime")
    )
    assert changes.moved == {0}
    (row,) = scene.rows
    assert row.job is not None
    assert (row.job.is_waiting, row.job.restarts) == (True, 1)


def test_tasks_have_rows_of_their_own_and_those_that_wait_together_have_one(
    tmp_path: Path,
) -> None:
    scene = Scene()

    def task(number: int) -> Job:
        log = write_steps(tmp_path / f"{number}.out", 1)
        return make_job(f"7_{number}", stdout=str(log), array_id=7, array_task=number)

    def rest(indices: str) -> Job:
        return make_job(f"7_[{indices}]", JobState.PENDING, array_id=7, array_tasks=indices)

    scene.hear(task(1), rest("2-4"))
    assert [row.name for row in scene.rows] == ["7_1 resnet", "7_[2-4] resnet"]
    scene.hear(task(1), task(2), rest("3-4"))
    assert [row.name for row in scene.rows] == ["7_1 resnet", "7_[3-4] resnet", "7_2 resnet"]
    scene.hear(task(1), task(2), task(3), task(4))
    assert {row.name for row in scene.rows} == {f"7_{n} resnet" for n in (1, 2, 3, 4)}
    scene.hear(task(1), rest("2"))
    assert "7_[2] resnet" in [row.name for row in scene.rows]


def test_jobs_that_write_one_file_in_turn_have_a_row_each_and_the_one_that_runs_has_the_log(
    tmp_path: Path,
) -> None:
    scene = Scene()
    log = write_steps(tmp_path / "train.log", 3)
    first = make_job("11", stdout=str(log))
    scene.hear(first, make_job("12", JobState.PENDING, stdout=str(log)))
    assert [(row.name, len(scene.catalogue.runs[row.run].files)) for row in scene.rows] == [
        ("11 resnet", 1),
        ("12 resnet", 0),
    ]
    over = make_job("11", JobState.COMPLETED, stdout=str(log), end=None)
    scene.hear(over, make_job("12", stdout=str(log)))
    told = {row.job.id: len(scene.catalogue.runs[row.run].files) for row in scene.rows if row.job}
    assert told == {"12": 1, "11": 0}
    before = [(row.run, row.name) for row in scene.rows]
    scene.hear(over, make_job("12", stdout=str(log)))
    assert [(row.run, row.name) for row in scene.rows] == before


def test_a_job_that_is_not_listed_any_more_is_not_called_running(tmp_path: Path) -> None:
    scene = Scene()
    log = write_steps(tmp_path / "job.out", 3)
    scene.hear(make_job(stdout=str(log)), make_job("9", JobState.PENDING))
    assert len(scene.rows) == 2
    changes = scene.hear()
    (row,) = scene.rows
    assert row.job is not None
    assert (row.job.phase, row.job.is_running) == ("unknown", False)
    assert row.job.reason_words == "the scheduler does not list it any more"
    assert changes.told == {0, 1}


def test_while_a_scheduler_does_not_answer_its_jobs_stay_as_they_were(tmp_path: Path) -> None:
    scene = Scene()
    log = write_steps(tmp_path / "job.out", 3)
    scene.hear(make_job(stdout=str(log)))
    asked = scene.book.asked.asked_at
    scene.book.take(HeardJobs(notes=("squeue gave no answer within 5 s",)))
    assert scene.rows[0].job is not None
    assert scene.rows[0].job.is_running
    assert scene.book.asked.asked_at == asked
    assert scene.book.asked.notes == ("squeue gave no answer within 5 s",)


def test_a_job_that_ended_stays_what_it_was_when_its_scheduler_forgets_it(tmp_path: Path) -> None:
    scene = Scene()
    log = write_steps(tmp_path / "job.out", 3)
    scene.hear(make_job(state=JobState.TIMEOUT, stdout=str(log), end=None))
    scene.hear()
    assert [row.job and row.job.state for row in scene.rows] == ["TIMEOUT"]


def test_runs_keep_their_numbers_and_jobs_theirs_over_the_death_of_an_engine(
    tmp_path: Path,
) -> None:
    logs = [write_steps(tmp_path / name, 3) for name in ("named.log", "48213.out")]
    scene = Scene()
    scene.catalogue.keep(((str(logs[1]),), (str(logs[0]),), (f"{tmp_path}/5 resnet",)))
    assert scene.catalogue.add((str(logs[0]),))[0] == [1]
    running = make_job(stdout=str(logs[1]))
    scene.hear(running, make_job("5", JobState.PENDING, work_dir=str(tmp_path)))
    assert [(row.name, row.is_extra) for row in scene.rows] == [
        ("48213 resnet", True),
        ("named.log", False),
        ("5 resnet", True),
    ]


def test_how_a_job_ended_is_told_in_a_word() -> None:
    failed = JobState.FAILED
    assert job_row(make_job(state=failed, exit_code=3)).ending == "exit code 3"
    assert job_row(make_job(state=failed, signal=9)).ending == "SIGKILL"
    assert job_row(make_job(state=failed, signal=125)).ending == "signal 125"
    assert job_row(make_job(state=JobState.CANCELLED, cancelled_by="ada")).ending == "by ada"
    assert job_row(make_job(exit_code=3)).ending == ""


def test_numbers_that_make_no_sense_are_not_passed_on() -> None:
    odd = job_row(make_job(elapsed=math.nan, expected_start=math.inf, time_limit=-1.0))
    assert (odd.elapsed, odd.starts_at, odd.limit) == (None, None, 0.0)
    assert job_row(make_job(time_limit=math.inf)).limit == math.inf


def test_the_time_of_a_suspended_job_stands_still() -> None:
    row = job_row(make_job(state=JobState.SUSPENDED, elapsed=60.0))
    assert (row.is_running, row.elapsed_at(ASKED + 600)) == (True, 60.0)
    assert job_row(make_job()).elapsed_at(ASKED + 600) == 4200.0

"""The whole app with jobs: the picker, one key to the next, a job that waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mltd.runs.discovery.jobs import run_of_job
from mltd.runs.schedulers.job import Job, JobState
from mltd.tui.engine.jobs import HeardJobs, _attached
from mltd.tui.engine.protocol import JobsAsked, Open, RunsFound, Select
from mltd.tui.picking import is_about_jobs
from mltd.tui.screens.run_picker import RunPicker
from tests.tui.app_scene import (
    NOW,
    Served,
    Stage,
    StandIn,
    healthy,
    piloted,
    served,
    staged,
    write_log,
)
from tests.tui.engine.job_scene import make_job
from tests.tui.job_rows import JOBS, ROWS, RUNS

NOT_ANSWERED = "squeue gave no answer within 5 s"


@pytest.fixture(autouse=True)
def _same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = RunPicker.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "clock", lambda: NOW)


def hear_of(stage: Stage, *jobs: Job, notes: tuple[str, ...] = ()) -> None:
    """Let the schedulers answer."""
    assert isinstance(stage.bridge, Served)
    service = stage.bridge._service
    attached = _attached(service.runs(), jobs)
    heard = HeardJobs(jobs, [run_of_job(job) for job in jobs], attached, NOW - 12, notes)
    stage.bridge._inbox.jobs(heard)
    stage.bridge.work()


def job_of(
    log: Path, job_id: str = "48213", state: JobState = JobState.RUNNING, **more: Any
) -> Job:
    """A job that began an hour ago and writes a log."""
    facts = {"stdout": str(log), "asked": NOW - 12, "start": NOW - 3612, "end": None, **more}
    return make_job(job_id, state, **facts)


def rows_known() -> RunsFound:
    return RunsFound(ROWS)


@piloted
async def test_without_names_the_picker_lists_the_users_jobs_first(own_home: Path) -> None:
    here = write_log(own_home / "runs" / "here.log", healthy())
    there = write_log(own_home / "scratch" / "slurm-48213.out", healthy())
    async with served(here.parent, is_survey=True) as stage:
        hear_of(stage, job_of(there), job_of(own_home / "x.out", "48220", JobState.PENDING))
        await stage.shows("your jobs, asked", "48213 resnet", "▶ running", "1:00/4:00h", "✔")
        await stage.shows("48220 resnet", "◌ pending", "── recent", "runs")
        await stage.press(*"48213", "enter")
        await stage.shows("48213 resnet  1/3", "RUNNING 1:00 of 4:00 h, 2:59 left on gpu03")
        await stage.shows("step 398/1000 | loss")


@piloted
async def test_one_key_goes_to_the_next_job_and_then_to_the_runs(own_home: Path) -> None:
    here = write_log(own_home / "runs" / "here.log", healthy())
    logs = [write_log(own_home / "scratch" / f"{n}.out", healthy()) for n in (1, 2)]
    async with served(here.parent, is_survey=True) as stage:
        hear_of(stage, job_of(logs[0], "101"), job_of(logs[1], "102"))
        await stage.press(*"runs", "enter")
        await stage.shows("runs  3/3")
        await stage.press("right_square_bracket")
        await stage.shows("102 resnet  1/3")
        await stage.press("right_square_bracket")
        await stage.shows("101 resnet  2/3")
        await stage.press("left_square_bracket", "left_square_bracket")
        await stage.shows("runs  3/3")


@piloted
async def test_a_job_that_waits_is_opened_and_its_log_comes(own_home: Path) -> None:
    log = own_home / "scratch" / "later.out"
    log.parent.mkdir()
    (own_home / "runs").mkdir()
    waiting = job_of(log, "48220", JobState.PENDING, reason="Resources", start=None,
                     expected_start=NOW + 1500)  # fmt: skip
    async with served(own_home / "runs", is_survey=True) as stage:
        hear_of(stage, waiting)
        await stage.press(*"48220", "enter")
        await stage.shows("waiting for job 48220: pending (Resources), starts about", "◌ pending")
        await stage.shows("nothing to judge yet", "waiting for later.out")
        write_log(log, healthy())
        assert isinstance(stage.bridge, Served)
        stage.bridge.work(log)
        await stage.shows("▶ running", "48220: pending 12 s ago, begun since")
        hear_of(stage, job_of(log, "48220", elapsed=90.0))
        await stage.shows("RUNNING 0:01 of 4:00 h")


@piloted
async def test_a_job_that_writes_no_log_says_so(own_home: Path) -> None:
    (own_home / "runs").mkdir()
    async with served(own_home / "runs", is_survey=True) as stage:
        hear_of(stage, make_job("7", asked=NOW - 12, name="salloc"))
        await stage.shows("7 salloc", "it writes no log that is known")
        await stage.press("enter")
        await stage.shows("on gpu03 · no log is known", "nothing to judge: no log of")


@piloted
async def test_with_names_jobs_are_below_them_and_one_key_away_if_they_run(own_home: Path) -> None:
    named = write_log(own_home / "runs" / "slurm-7.out", healthy())
    other = write_log(own_home / "scratch" / "8.out", healthy())
    async with served(named) as stage:
        await stage.shows("slurm-7.out")
        assert "1/1" not in stage.text
        hear_of(
            stage,
            job_of(named, "7"),
            job_of(other, "8"),
            job_of(own_home / "9.out", "9", JobState.PENDING),
        )
        await stage.shows("slurm-7.out  1/2", "RUNNING 1:00 of 4:00 h, 2:59 left on gpu03")
        await stage.press("r")
        await stage.shows("slurm-7.out", "your other jobs", "8 resnet", "9 resnet")
        await stage.press("escape", "right_square_bracket")
        await stage.shows("8 resnet  2/2")


@piloted
async def test_a_problem_is_no_notice_however_often_it_comes(own_home: Path) -> None:
    log = write_log(own_home / "runs" / "slurm-7.out", healthy())
    async with served(log.parent, is_survey=True) as stage:
        hear_of(stage, job_of(log, "7"))
        for _ in range(5):
            hear_of(stage, job_of(log, "7"), notes=(NOT_ANSWERED,))
        await stage.shows(f"your jobs, as of 12 s ago: {NOT_ANSWERED}")
        assert stage.notices == []


@piloted
async def test_jobs_that_were_told_before_the_picker_opens_are_in_it() -> None:
    bridge = StandIn()
    bridge.tell(RunsFound((*JOBS, *RUNS)), JobsAsked(NOW - 12))
    async with staged(bridge, "/home/ada/runs/baseline.log") as stage:
        await stage.press("r")
        await stage.shows("your other jobs", "48213")
        assert isinstance(stage.app.screen, RunPicker)
        await stage.hear(JobsAsked(NOW - 12, (NOT_ANSWERED,)))
        await stage.shows(NOT_ANSWERED)


@piloted
async def test_a_job_is_opened_from_the_picker_by_a_number_that_is_not_listed() -> None:
    bridge = StandIn()
    bridge.tell(RunsFound(RUNS))
    async with staged(bridge, "/home/ada/runs", is_survey=True) as stage:
        await stage.press(*"job:48213", "enter")
        assert bridge.of(Open)[-1] == Open(("job:48213",))
        await stage.hear(RunsFound(ROWS))
        await stage.until(lambda: bridge.of(Select))
        assert bridge.of(Select)[-1] == Select(0)


@piloted
async def test_the_place_of_a_run_changes_when_a_job_before_it_ends() -> None:
    bridge = StandIn()
    bridge.tell(rows_known())
    async with staged(bridge, "/home/ada/runs/baseline.log") as stage:
        stage.main.select(8)
        assert stage.main.header.position == (1, 5)
        assert JOBS[0].job is not None
        ended = JOBS[0]._replace(job=JOBS[0].job._replace(phase="over", state="COMPLETED"))
        await stage.hear(RunsFound((ended, *ROWS[1:])))
        assert stage.main.header.position == (1, 4)


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (Open(("/here",), is_survey=True), True),
        (Open(("job:48213",)), True),
        (Open(("48213_7", "job:5+1")), True),
        (Open(("train.log",)), False),
        (Open(("job:48213", "train.log")), False),
        (Open(("7.log",)), False),
    ],
)
def test_what_the_user_came_for(wish: Open, expected: bool) -> None:
    assert is_about_jobs(wish) is expected


def test_a_file_called_like_a_job_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("48213").write_text("step 1 loss 2\n")
    assert not is_about_jobs(Open(("48213",)))

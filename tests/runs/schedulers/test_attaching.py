"""Which job a log belongs to that was opened by its path."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.discovery import Purpose, RunFile, RunFiles
from mltd.runs.discovery.jobs import JobWithoutLog
from mltd.runs.errors import InputError
from mltd.runs.schedulers import registry
from mltd.runs.schedulers.attaching import SLACK, attach, is_of, job_of, refused_runs
from mltd.runs.schedulers.job import Job, JobList, JobState

START = 1_750_000_000.0


def job(number: int = 48213, state: str = "RUNNING", **more: Any) -> Job:
    known: dict[str, Any] = {"id": str(number), "raw_id": number, "start": START, **more}
    return Job(state=JobState(state), **known)


def log(path: Path, written: float = START + 60) -> RunFiles:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("step 1 loss 2\n")
    os.utime(path, (written, written))
    return RunFiles(path.name, str(path.parent), [RunFile(str(path), Purpose.LOG)])


def test_the_job_that_names_the_file_writes_it(tmp_path: Path) -> None:
    files = log(tmp_path / "train.log")
    named = job(stdout=str(tmp_path / "train.log"))
    assert job_of(files, [job(1, stdout=str(tmp_path / "other.log")), named]) is named
    errors = job(stdout="/dev/null", stderr=str(tmp_path / "train.log"))
    assert job_of(files, [errors]) is errors
    assert job_of(files, []) is None


def test_links_lead_to_the_same_file(tmp_path: Path) -> None:
    log(tmp_path / "real" / "slurm-48213.out")
    (tmp_path / "scratch").symlink_to(tmp_path / "real")
    (tmp_path / "latest.out").symlink_to(tmp_path / "real" / "slurm-48213.out")
    named = job(stdout=str(tmp_path / "scratch" / "slurm-48213.out"))
    for name in ("real/slurm-48213.out", "scratch/slurm-48213.out", "latest.out"):
        files = RunFiles("x", ".", [RunFile(str(tmp_path / name), Purpose.LOG)])
        assert job_of(files, [named]) is named


def test_of_jobs_that_share_a_file_the_running_and_the_newest_has_the_word(tmp_path: Path) -> None:
    path = str(tmp_path / "train.log")
    files = log(tmp_path / "train.log", START + 5000)
    old = job(1, "FAILED", stdout=path, start=START, end=START + 1000)
    last = job(2, "FAILED", stdout=path, start=START + 2000, end=START + 5000)
    now = job(3, "RUNNING", stdout=path, start=START + 4900)
    waiting = job(4, "PENDING", stdout=path, start=None)
    assert job_of(files, [old, waiting]) is None
    assert job_of(files, [last, old, waiting]) is last
    assert job_of(files, [now, last, old, waiting]) is now


def test_a_log_from_before_the_job_is_not_its_own(tmp_path: Path) -> None:
    named = job(stdout=str(tmp_path / "train.log"))
    assert job_of(log(tmp_path / "train.log", START - SLACK - 1), [named]) is None
    assert job_of(log(tmp_path / "train.log", START - 10), [named]) is named


@pytest.mark.parametrize(
    "name",
    ["slurm-48213.out", "slurm_48213.log", "48213-train.err", "train-48213.out", "48213.out",
     "job48213.txt", "out.48213"],
)  # fmt: skip
def test_a_number_in_the_name_is_the_job_s(tmp_path: Path, name: str) -> None:
    files = log(tmp_path / "logs" / name)
    own = job(work_dir=str(tmp_path), stdout=str(tmp_path / "elsewhere.out"))
    assert job_of(files, [job(4821, work_dir=str(tmp_path)), own]) is own


@pytest.mark.parametrize(
    "name",
    ["slurm-148213.out", "slurm-482130.out", "run-48213x.log", "seed48213.log", "train.log"],
)
def test_a_number_that_only_looks_like_the_job_s(tmp_path: Path, name: str) -> None:
    assert job_of(log(tmp_path / name), [job(work_dir=str(tmp_path))]) is None


def test_small_numbers_are_jobs_only_where_the_name_says_so(tmp_path: Path) -> None:
    small = job(7, work_dir=str(tmp_path))
    assert job_of(log(tmp_path / "epoch-7.log"), [small]) is None
    assert job_of(log(tmp_path / "slurm-7.out"), [small]) is small


def test_a_number_alone_does_not_make_a_job(tmp_path: Path) -> None:
    """It may be a date, or the job of another cluster."""
    files = log(tmp_path / "mirror" / "slurm-48213.out")
    assert job_of(files, [job(work_dir="/home/anna", stdout="/home/anna/x.out")]) is None
    assert job_of(files, [job(work_dir=str(tmp_path / "mir"))]) is None
    dated = log(tmp_path / "train-20250615.log", START - 10 * SLACK)
    assert job_of(dated, [job(20250615, work_dir=str(tmp_path))]) is None
    named = job(name="resnet")
    assert job_of(log(tmp_path / "resnet-48213.log"), [named]) is named


def test_a_task_is_known_by_both_of_its_numbers(tmp_path: Path) -> None:
    task = job(48220, array_id=48213, array_task=7, work_dir=str(tmp_path))
    first = job(48213, array_id=48213, array_task=1, work_dir=str(tmp_path))
    both = [first, task]
    assert job_of(log(tmp_path / "slurm-48213_7.out"), both) is task
    assert job_of(log(tmp_path / "slurm-48213_007.out"), both) is task
    assert job_of(log(tmp_path / "train-48220.log"), both) is task
    assert job_of(log(tmp_path / "slurm-48213_1.out"), both) is first
    assert job_of(log(tmp_path / "slurm-48213_70.out"), both) is None
    assert job_of(log(tmp_path / "slurm-48213.out"), both) is None


def test_a_requeued_job_has_written_before_it_waits(tmp_path: Path) -> None:
    path = str(tmp_path / "train.log")
    again = job(state="PENDING", stdout=path, start=None, restarts=1)
    assert job_of(log(tmp_path / "train.log"), [again]) is again


def test_a_run_that_knows_its_job_gets_its_newest_state(tmp_path: Path) -> None:
    files = log(tmp_path / "any.log")
    files.job = job(state="RUNNING")
    ended = job(state="COMPLETED")
    assert job_of(files, [job(1), ended]) is ended
    assert job_of(files, [job(1)]) is files.job


@given(st.text(max_size=30), st.integers(1, 10**10), st.text(max_size=10))
def test_no_name_breaks_the_search(name: str, number: int, job_name: str) -> None:
    files = RunFiles("x", ".", [RunFile(f"/nowhere/{name}", Purpose.LOG)])
    found = job(number, stdout=f"/tmp/{job_name}", work_dir=job_name, name=job_name)
    assert job_of(files, [found]) in (None, found)


@given(st.none() | st.floats(0, 3e9), st.sampled_from(JobState), st.none() | st.floats(0, 3e9),
       st.none() | st.floats(0, 3e9))  # fmt: skip
def test_a_moment_within_the_job_is_always_its_own(
    written: float | None, state: JobState, start: float | None, end: float | None
) -> None:
    found = Job(id="1", state=state, start=start, end=end)
    if written is None or (
        start is not None and start <= written and (end is None or written <= end)
    ):
        assert is_of(found, written)


class _Cluster:
    name = "made"

    def __init__(self, *jobs: Job) -> None:
        self.jobs_known, self.asked = jobs, 0

    def is_available(self) -> bool:
        return True

    def own_jobs(self) -> JobList:
        self.asked += 1
        return JobList(self.jobs_known)

    def job(self, job_id: str) -> Job:
        raise InputError("nothing more is to be asked")

    def jobs(self, job_id: str) -> JobList:
        raise InputError("nothing more is to be asked")

    def parse_name(self, text: str) -> str | None:
        return None


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[_Cluster]:
    """A scheduler with two jobs in this folder; its commands are installed and set up."""
    made = _Cluster(job(stdout=str(tmp_path / "a.log")), job(48214, stdout=str(tmp_path / "b.log")))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "squeue").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("SLURM_CONF", "/nowhere")
    registry.default_schedulers.cache_clear()
    monkeypatch.setattr(registry, "load", lambda points: registry.Schedulers([made]))
    monkeypatch.setattr("time.time", lambda: START + 100)
    yield made
    registry.default_schedulers.cache_clear()


def test_all_runs_get_their_jobs_from_one_question(cluster: _Cluster, tmp_path: Path) -> None:
    runs = [log(tmp_path / name) for name in ("a.log", "b.log", "c.log")]
    attach(runs)
    assert [run.job and run.job.id for run in runs] == ["48213", "48214", None]
    assert cluster.asked == 1


def test_a_run_that_has_its_job_is_asked_for_only_again(cluster: _Cluster, tmp_path: Path) -> None:
    files = log(tmp_path / "a.log")
    files.job = job(state="PENDING")
    attach([files])
    assert cluster.asked == 0
    attach([files], again=True)
    assert (cluster.asked, files.job) == (1, cluster.jobs_known[0])


def test_an_old_log_is_not_asked_about(cluster: _Cluster, tmp_path: Path) -> None:
    attach([log(tmp_path / "a.log", START - 7 * 86_400)])
    assert cluster.asked == 0


def test_without_squeue_nothing_is_looked_up(
    cluster: _Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin" / "squeue").unlink()
    monkeypatch.setattr(registry, "load", lambda points: pytest.fail("entry points were read"))
    attach([log(tmp_path / "slurm-48213.out")])


def test_commands_without_a_cluster_are_asked_about_a_job_s_own_log_alone(
    cluster: _Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_CONF")
    monkeypatch.setattr("mltd.runs.schedulers.attaching._CONFIGURATIONS", ())
    attach([log(tmp_path / "a.log")])
    assert cluster.asked == 0
    attach([log(tmp_path / "slurm-48213.out")])
    assert cluster.asked == 1


def test_jobs_without_a_log_that_have_something_to_say() -> None:
    never = RunFiles("1", ".", [RunFile("/x", Purpose.LOG)])
    never.job = job(1, "PENDING", start=None, reason="BadConstraints")
    soon = RunFiles("2", ".", [], job(2, "PENDING", start=None, reason="Priority"))
    [found] = refused_runs(JobWithoutLog("no log", hint="wait", runs=[never, soon]))
    assert (found.job, found.files) == (never.job, [])
    assert refused_runs(InputError("something else")) == []

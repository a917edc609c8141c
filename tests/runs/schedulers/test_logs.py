"""The files that a job writes."""

from __future__ import annotations

from pathlib import Path

from mltd.runs.schedulers.job import Job
from mltd.runs.schedulers.logs import job_logs


def test_what_the_job_names_even_before_it_exists() -> None:
    job = Job(id="7", stdout="/nowhere/7.out", stderr="/nowhere/7.err")
    assert job_logs(job) == ("/nowhere/7.out", "/nowhere/7.err")


def test_one_file_for_both_streams_is_named_once() -> None:
    assert job_logs(Job(id="7", stdout="/nowhere/o", stderr="/nowhere/o")) == ("/nowhere/o",)


def test_output_that_is_thrown_away_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "slurm-7.out").write_text("of an earlier job")
    thrown = Job(id="7", raw_id=7, stdout="/dev/null", work_dir=str(tmp_path))
    assert job_logs(thrown) == ()


def test_files_that_bear_the_number_where_the_job_names_none(tmp_path: Path) -> None:
    folder = tmp_path / "slurm_logs"
    folder.mkdir()
    for name in ("48213-train.out", "48213-train.err", "148213-train.out", "48213.pt"):
        (folder / name).write_text("x")
    job = Job(id="48213", raw_id=48213, work_dir=str(tmp_path))
    assert job_logs(job) == (str(folder / "48213-train.out"), str(folder / "48213-train.err"))


def test_a_task_does_not_take_the_files_of_its_siblings(tmp_path: Path) -> None:
    for name in ("slurm-48213_7.out", "slurm-48213_71.out", "slurm-48213_8.out", "j48220.log"):
        (tmp_path / name).write_text("x")
    job = Job(id="48213_7", raw_id=48220, array_id=48213, array_task=7, work_dir=str(tmp_path))
    assert [Path(path).name for path in job_logs(job)] == ["j48220.log", "slurm-48213_7.out"]


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert job_logs(Job(id="7", raw_id=7, work_dir=str(tmp_path / "gone"))) == ()
    assert job_logs(Job(id="7")) == ()

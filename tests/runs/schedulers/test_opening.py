"""Runs that are named by their job, on a real Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.discovery import explore
from mltd.runs.errors import InputError
from mltd.runs.ingest import load

from .real_slurm import RealSlurm

TRAINING = "for i in $(seq 1 60); do echo step $i loss 0.$((100 - i)); done"


def test_a_job_is_opened_by_its_number(slurm: RealSlurm, tmp_path: Path) -> None:
    job = slurm.submit(TRAINING, "--job-name=gpt", f"--chdir={tmp_path}")
    slurm.wait_for(job, "COMPLETED")
    for name in (f"job:{job}", job):
        (files,) = explore(name).runs
        assert files.name == f"{job} gpt"
        assert [Path(file.path).name for file in files.files] == [f"slurm-{job}.out"]
    run = load(files).run
    assert [series.name for series in run.series if series.role == "train/loss"] == ["loss"]


def test_a_job_that_waits_says_so(slurm: RealSlurm, tmp_path: Path) -> None:
    job = slurm.submit(TRAINING, "--hold", f"--chdir={tmp_path}")
    with pytest.raises(InputError, match=rf"job {job} is pending .*no log yet: it will write"):
        explore(f"job:{job}")


def test_a_file_with_such_a_name_is_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("48213").write_text("step 1 loss 2.5\nstep 2 loss 2.4\nstep 3 loss 2.3\n")
    (files,) = explore("48213").runs
    assert files.files[0].path.endswith("48213")


def test_without_a_scheduler_a_number_is_a_file_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no file or directory 48213"):
        explore("48213")
    with pytest.raises(InputError):
        explore("job:48213")

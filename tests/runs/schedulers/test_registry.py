"""The schedulers of an installation: Slurm, other packages' ones, and broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.runs.schedulers.job import Job, JobList, JobState
from mltd.runs.schedulers.registry import Schedulers, load

THIRD_PARTY = """
from mltd.runs.schedulers.job import Job, JobList, JobState


class Pbs:
    name = "pbs"

    def is_available(self):
        return True

    def own_jobs(self):
        return JobList((self.job("77.srv"),), asked=5.0)

    def job(self, job_id):
        return Job(id=job_id, scheduler="pbs", state=JobState.RUNNING)

    def jobs(self, job_id):
        return JobList((self.job(job_id),))

    def parse_name(self, text):
        return text.removeprefix("job:") if text.endswith(".srv") else None


class Fails(Pbs):
    name = "fails"

    def own_jobs(self):
        raise KeyError("no idea")


class Lies(Pbs):
    name = "lies"

    def own_jobs(self):
        return ["77.srv"]


class Half:
    name = "half"
"""

ENTRY_POINTS = """[mltd.schedulers]
pbs = acme_pbs:Pbs
fails = acme_pbs:Fails
lies = acme_pbs:Lies
half = acme_pbs:Half
absent = acme_pbs:Absent
"""

SCRIPT = """
from mltd.runs.schedulers.registry import default_schedulers
found = default_schedulers()
print([one.name for one in found.all])
print(found.job("job:77.srv").scheduler, found.jobs("88.srv").jobs[0].id)
listed = found.own_jobs()
print([job.id for job in listed.jobs], listed.asked)
print("\\n".join(listed.notes))
"""


def test_another_package_adds_schedulers_and_broken_ones_are_reported(tmp_path: Path) -> None:
    (tmp_path / "acme_pbs.py").write_text(THIRD_PARTY)
    info = tmp_path / "acme_pbs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-pbs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert lines[:3] == ["['slurm', 'fails', 'lies', 'pbs']", "pbs 88.srv", "['77.srv'] 5.0"]
    notes = "\n".join(lines[3:])
    assert "'absent' (acme_pbs:Absent) cannot be loaded: AttributeError" in notes
    assert "'half' (acme_pbs:Half) cannot be loaded: AttributeError" in notes
    assert "scheduler 'fails' fails: KeyError: 'no idea'" in notes
    assert "scheduler 'lies' fails: TypeError: own_jobs gave list" in notes


class Stub:
    """A scheduler that knows one job."""

    def __init__(self, name: str, *, is_here: bool, problem: Exception | None = None) -> None:
        self.name = name
        self.is_here = is_here
        self.problem = problem

    def is_available(self) -> bool:
        return self.is_here

    def own_jobs(self) -> JobList:
        return JobList((self.job("1"),))

    def job(self, job_id: str) -> Job:
        if self.problem is not None:
            raise self.problem
        return Job(id=job_id, scheduler=self.name, state=JobState.RUNNING)

    def jobs(self, job_id: str) -> JobList:
        return JobList((self.job(job_id),))

    def parse_name(self, text: str) -> str | None:
        return text.removeprefix("job:") if text.startswith("job:") else None


def test_of_two_that_claim_a_name_the_one_that_is_installed_is_asked() -> None:
    both = Schedulers([Stub("absent", is_here=False), Stub("present", is_here=True)])
    job = both.job("job:1")
    assert job is not None
    assert job.scheduler == "present"
    assert [job.scheduler for job in both.own_jobs().jobs] == ["present"]


def test_a_name_that_is_no_job() -> None:
    assert load([]).job("train.log") is None
    with pytest.raises(InputError, match="'job:train' names no job; write job:48213"):
        load([]).job("job:train")


def test_a_scheduler_that_fails_at_a_job_says_so_in_a_sentence() -> None:
    broken = Schedulers([Stub("broken", is_here=True, problem=ZeroDivisionError("oops"))])
    with pytest.raises(InputError, match="'broken' fails at job 1: ZeroDivisionError: oops"):
        broken.job("job:1")
    honest = Schedulers([Stub("honest", is_here=True, problem=InputError("no such job"))])
    with pytest.raises(InputError, match=r"^no such job$"):
        honest.jobs("job:1")


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("names", ("subprocess", "importlib.metadata", "mltd.runs.schedulers.job")),
        ("registry", ("numpy", "pandas", "orjson", "pydantic", "importlib.metadata")),
        ("slurm", ("numpy", "pandas", "orjson", "pydantic", "importlib.metadata")),
    ],
)
def test_importing_the_schedulers_is_cheap(module: str, heavy: tuple[str, ...]) -> None:
    code = (
        f"import sys, mltd.runs.schedulers.{module};"
        f"sys.exit(', '.join(name for name in {heavy} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

"""Jobs of a real Slurm, seen through the same door as everywhere."""

from __future__ import annotations

import math
import os
import shutil
import time
from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.schedulers.logs import job_logs
from mltd.runs.schedulers.registry import default_schedulers
from mltd.runs.schedulers.slurm import Slurm
from mltd.runs.schedulers.slurm.job_json import parse_json
from mltd.runs.schedulers.slurm.problems import Trouble
from mltd.runs.schedulers.slurm.questions import Questions
from tests.runs.schedulers.real_slurm import RealSlurm

TRAINING = 'for step in 1 2 3; do echo "step $step loss 0.$step"; done'
COMPARED = (
    "id", "state", "stdout", "stderr", "exit_code", "signal", "submit", "start", "end",
    "time_limit", "elapsed", "nodes", "node_count", "work_dir", "reason", "requested_memory",
)  # fmt: skip
Ids = dict[str, str]


@pytest.fixture(scope="module")
def ids(real_slurm: RealSlurm) -> Ids:
    """Jobs that have met their various ends, or still wait."""
    submit = real_slurm.submit
    found = {
        # First the one that takes longest: Slurm looks for such jobs twice a minute.
        "timeout": submit("sleep 600", "--time=1"),
        "trained": submit(TRAINING, "--job-name=my job|%j", "-o", "log-%x-%5j-%N.out", "-t", "5"),
        "failed": submit("echo oh >&2; exit 3", "--error=err-%j.txt"),
        "killed": submit("kill -9 $$"),
        "cancelled": submit("sleep 600", "--mem=100"),
        "array": submit("echo task; exit $((SLURM_ARRAY_TASK_ID - 1))", "--array=1-2"),
        "held": submit("true", "--array=1-10%4", "--hold", "--time=5"),
        "unwritable": submit("true", "-o", "no/such/folder/%j.out"),
        "parts": real_slurm.call(
            # Held: the parts of such a job want a node each, and there is but one.
            "sbatch",
            "--parsable",
            "--hold",
            "-n1",
            "-o",
            "parts-%j.out",
            ":",
            "-n1",
            "--wrap=true",
        ).strip(),
        "preempted": submit("sleep 600", "--partition=low", "--mem=30000"),
        "requeued": submit("sleep 600", "--partition=again", "--mem=30000", "--time=10"),
    }
    found["dependent"] = submit("true", f"--dependency=afterok:{found['cancelled']}")
    for name in ("timeout", "cancelled", "preempted", "requeued"):
        real_slurm.wait_for(found[name], "RUNNING")
    # Limits are whole minutes; an operator may set an earlier end, which spares the test a minute.
    real_slurm.call("scontrol", "update", f"jobid={found['timeout']}", "endtime=now+1")
    real_slurm.call("scancel", found["cancelled"])
    found["winner"] = submit("true", "--partition=high", "--mem=60000")
    for name in ("trained", "failed", "killed", "array", "unwritable", "winner"):
        real_slurm.wait_for(found[name], "COMPLETED", "FAILED")
    real_slurm.wait_for(found["cancelled"], "CANCELLED")
    real_slurm.wait_for(found["preempted"], "PREEMPTED")
    real_slurm.wait_for(found["requeued"], "PENDING")
    real_slurm.wait_for(found["timeout"], "TIMEOUT")
    return found


@pytest.fixture
def jobs(slurm: RealSlurm, ids: Ids) -> dict[str, Job]:
    """All jobs by id, as one query gives them."""
    found = Slurm().own_jobs()
    assert found.notes == ()
    return {job.id: job for job in found.jobs}


def test_a_job_that_trained(jobs: dict[str, Job], ids: Ids, slurm: RealSlurm) -> None:
    job = jobs[ids["trained"]]
    assert (job.state, job.exit_code, job.signal, job.is_over) == (
        JobState.COMPLETED, 0, None, True,
    )  # fmt: skip
    assert (job.name, job.user, job.partition) == ("my job|%j", "root", "main")
    assert job.work_dir == str(slurm.jobs_folder)
    assert (job.nodes, job.node_names, job.node_count) == (slurm.host, (slurm.host,), 1)
    assert (job.time_limit, job.restarts) == (300.0, 0)
    assert job.submit is not None
    assert job.start is not None
    assert job.end is not None
    assert abs(time.time() - job.start) < 600
    assert job.stdout is not None
    assert Path(job.stdout).read_text() == "step 1 loss 0.1\nstep 2 loss 0.2\nstep 3 loss 0.3\n"
    assert job_logs(job) == (job.stdout,)


def test_a_job_that_failed(jobs: dict[str, Job], ids: Ids) -> None:
    job = jobs[ids["failed"]]
    assert (job.state, job.exit_code, job.reason) == (JobState.FAILED, 3, "NonZeroExitCode")
    assert job.stderr is not None
    assert Path(job.stderr).read_text() == "oh\n"
    assert job.stdout is not None
    assert Path(job.stdout).name == f"slurm-{ids['failed']}.out"
    assert "exit code 3" in job.quote


def test_a_job_that_a_signal_ended(jobs: dict[str, Job], ids: Ids) -> None:
    job = jobs[ids["killed"]]
    assert (job.state, job.signal, job.signal_name) == (JobState.FAILED, 9, "SIGKILL")
    assert job.reason_words == "a signal ended it"


def test_a_job_that_ran_into_its_time_limit(jobs: dict[str, Job], ids: Ids) -> None:
    job = jobs[ids["timeout"]]
    assert (job.state, job.reason, job.time_limit) == (JobState.TIMEOUT, "TimeLimit", 60.0)
    assert (job.signal_name, job.time_left) == ("SIGTERM", None)
    assert job.stdout is not None
    assert "DUE TO TIME LIMIT" in Path(job.stdout).read_text()


def test_a_job_that_was_cancelled(jobs: dict[str, Job], ids: Ids) -> None:
    job = jobs[ids["cancelled"]]
    assert (job.state, job.is_over) == (JobState.CANCELLED, True)
    assert job.requested_memory == 100 * 2**20


def test_a_job_that_was_preempted_and_one_that_will_run_again(
    jobs: dict[str, Job], ids: Ids
) -> None:
    assert jobs[ids["preempted"]].state is JobState.PREEMPTED
    again = jobs[ids["requeued"]]
    assert (again.state, again.restarts, again.reason) == (JobState.PENDING, 1, "BeginTime")
    assert again.expected_start is not None
    assert again.expected_start > time.time()
    assert again.start is None


def test_an_array_that_ended_task_by_task(jobs: dict[str, Job], ids: Ids) -> None:
    first, second = (jobs[f"{ids['array']}_{task}"] for task in (1, 2))
    assert (first.exit_code, second.exit_code) == (0, 1)
    for job in (first, second):
        assert job.stdout is not None
        assert Path(job.stdout).name == f"slurm-{job.id}.out"
        assert Path(job.stdout).read_text() == "task\n"


def test_tasks_that_wait_together(jobs: dict[str, Job], ids: Ids) -> None:
    job = jobs[f"{ids['held']}_[1-10%4]"]
    assert (job.state, job.reason, job.stdout) == (JobState.PENDING, "JobHeldUser", None)
    assert job.reason_words == "it is held by its user, until `scontrol release`"
    assert job.expected_start is None


def test_a_job_that_waits_for_another(jobs: dict[str, Job], ids: Ids) -> None:
    job = jobs[ids["dependent"]]
    assert job.state is JobState.PENDING
    assert job.reason in ("Dependency", "DependencyNeverSatisfied")
    assert job.stdout is not None


def test_a_job_whose_output_cannot_be_written(jobs: dict[str, Job], ids: Ids) -> None:
    job = jobs[ids["unwritable"]]
    assert (job.state, job.reason) == (JobState.FAILED, "JobLaunchFailure")
    assert "output file" in (job.reason_words or "")


def test_a_heterogeneous_job(jobs: dict[str, Job], ids: Ids) -> None:
    first, second = (jobs[f"{ids['parts']}+{offset}"] for offset in (0, 1))
    assert first.stdout is not None
    assert Path(first.stdout).name == f"parts-{ids['parts']}.out"
    assert (second.raw_id, second.het_id) == (int(ids["parts"]) + 1, int(ids["parts"]))
    assert Slurm().job(ids["parts"]) == first


def test_a_running_job_by_its_number(slurm: RealSlurm) -> None:
    number = slurm.submit(f"{TRAINING}; sleep 600", "--time=10", "--mem=2000")
    slurm.wait_for(number, "RUNNING")
    job = default_schedulers().job(f"job:{number}")
    assert job is not None
    assert (job.state, job.is_running, job.time_limit) == (JobState.RUNNING, True, 600.0)
    assert job.time_left is not None
    assert 500 < job.time_left <= 601
    assert (job.node_memory, job.exit_code, job.end) == (2000 * 2**20, None, None)
    slurm.call("scancel", number)


def test_a_job_without_limit_has_no_end(slurm: RealSlurm) -> None:
    job = Slurm().job(slurm.submit("sleep 600", "--hold"))
    assert (job.time_limit, job.reason) == (math.inf, "JobHeldUser")


def test_scontrol_says_the_same_as_squeue(jobs: dict[str, Job], ids: Ids) -> None:
    questions = Questions(os.getuid())
    for name in ("failed", "timeout"):
        shown = questions.one(ids[name])
        [record] = shown.found or []
        seen, listed = record.job(shown.asked), jobs[ids[name]]
        for field in COMPARED:
            assert getattr(seen, field) == getattr(listed, field), field


def test_json_says_the_same_as_text(jobs: dict[str, Job], ids: Ids, slurm: RealSlurm) -> None:
    records = parse_json(slurm.call("squeue", "--json", "--states=all"))
    seen = {job.id: job for job in (record.job(None) for record in records)}
    names = ("trained", "failed", "killed", "timeout", "cancelled", "preempted", "unwritable")
    tasks = (f"{ids['array']}_1", f"{ids['array']}_2", f"{ids['held']}_[1-10%4]")
    for job_id in (*(ids[name] for name in names), *tasks):
        for field in COMPARED:
            assert getattr(seen[job_id], field) == getattr(jobs[job_id], field), (job_id, field)


def test_slurm_is_asked_once_however_many_ask(
    slurm: RealSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "asked"
    for program in ("squeue", "scontrol", "sacct"):
        place = shutil.which(program)
        counter = tmp_path / program
        counter.write_text(f'#!/bin/sh\necho {program} $1 >> {log}\nexec {place} "$@"\n')
        counter.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for _ in range(5):
        Slurm().own_jobs()
        with pytest.raises(InputError, match="Slurm knows no job 999999 of yours"):
            Slurm().job("999999")
    asked = log.read_text().split("\n")
    assert sorted(line.split()[0] for line in asked if line and "--version" not in line) == [
        "sacct", "scontrol", "squeue",
    ]  # fmt: skip


def test_accounts_are_known_to_be_off(slurm: RealSlurm) -> None:
    problem = Questions(os.getuid()).past().problem
    assert problem is not None
    assert problem.trouble is Trouble.NO_ACCOUNTING


def test_a_controller_that_is_down_is_a_sentence(
    slurm: RealSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = slurm.configuration.read_text()
    (tmp_path / "slurm.conf").write_text(text.replace("munge.socket", "no.socket"))
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    [note] = Slurm().own_jobs().notes
    assert "Slurm refuses to answer" in note or "no answer" in note


def test_a_node_that_fails_takes_its_jobs_along(slurm: RealSlurm) -> None:
    number = slurm.submit("sleep 600", "--no-requeue")
    slurm.wait_for(number, "RUNNING")
    with slurm.failed_node():
        slurm.wait_for(number, "NODE_FAIL")
    job = Slurm().job(number)
    assert (job.state, job.is_over) == (JobState.NODE_FAIL, True)

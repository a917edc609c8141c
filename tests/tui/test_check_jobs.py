"""`check` on runs whose job a real Slurm knows: by number, and by the path of the log."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.run import Run
from mltd.runs.schedulers.job import Job, JobState
from mltd.tui.plain_text import render_run
from tests import warm_python
from tests.runs.schedulers.conftest import slurm
from tests.runs.schedulers.real_slurm import RealSlurm, real_slurm
from tests.waiting import wait_until

__all__ = ["real_slurm", "slurm"]

Document = dict[str, Any]
Ids = dict[str, str]


def training(first: int, last: int, total: int, pause: float = 0.0) -> str:
    """A shell that prints as a training does: a loss that falls."""
    wait = f"sleep {pause}; " if pause else ""
    return (
        f'for i in $(seq {first} {last}); do echo "step $i/{total} loss $((9000 / (i + 20)))"; '
        f"{wait}done"
    )


@pytest.fixture(scope="module")
def ids(real_slurm: RealSlurm) -> Ids:
    """Jobs that have met their ends; those that take long come first."""
    submit = real_slurm.submit
    found = {
        "timeout": submit(f"{training(1, 40, 100)}; sleep 600", "--time=1"),
        "slow": submit(training(1, 10_000, 10_000, 0.1), "--time=3"),
        "cancelled": submit(f"{training(1, 40, 100)}; sleep 600"),
        "trained": submit(training(1, 40, 40)),
        "quiet": submit(training(1, 40, 100), "-o", "quiet.log"),
        "failed": submit(f"{training(1, 40, 100)}; exit 3"),
        "killed": submit(f"{training(1, 40, 100)}; kill -9 $$"),
        "array": submit(
            f"{training(1, 40, 100)}; exit $((SLURM_ARRAY_TASK_ID - 1))", "--array=1-2"
        ),
    }
    found["never"] = submit("true", f"--dependency=afterok:{found['failed']}")
    for name in ("timeout", "slow", "cancelled"):
        real_slurm.wait_for(found[name], "RUNNING")
    # Limits are whole minutes; an operator may set an earlier end, which spares the test a minute.
    real_slurm.call("scontrol", "update", f"jobid={found['timeout']}", "endtime=now+1")
    written = real_slurm.jobs_folder / f"slurm-{found['cancelled']}.out"
    wait_until(lambda: written.exists() and "step 40/" in written.read_text())
    real_slurm.call("scancel", found["cancelled"])
    real_slurm.wait_for(found["cancelled"], "CANCELLED")
    for name in ("trained", "quiet", "failed", "killed", "array"):
        real_slurm.wait_for(found[name], "COMPLETED", "FAILED")
    real_slurm.wait_for(found["timeout"], "TIMEOUT")
    return found


def check(slurm: RealSlurm, *names: str) -> tuple[list[Document], int]:
    """What `mltd-tui check --json` prints, and its exit code."""
    done = call("check", "--json", *names, folder=slurm.jobs_folder)
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def call(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return warm_python.run("mltd.tui.cli", *arguments, folder=folder)


def alarms(document: Document) -> dict[str, Document]:
    return {f["id"]: f for f in document["findings"] if f["severity"] != "info"}


@pytest.mark.parametrize(
    ("name", "state", "finding"),
    [
        ("trained", "finished", None),
        ("quiet", "finished", None),
        ("timeout", "failed", "slurm_timeout"),
        ("cancelled", "failed", "slurm_cancelled"),
        ("failed", "failed", "job_failed"),
        ("killed", "failed", "host_oom"),
        ("slow", "running", "time_limit_ahead"),
        ("never", "unknown", "orchestration_error"),
    ],
)
def test_a_job_by_its_number(
    slurm: RealSlurm, ids: Ids, name: str, state: str, finding: str | None
) -> None:
    [document], code = check(slurm, f"job:{ids[name]}")
    found = alarms(document)
    assert set(found) == ({finding} if finding else set())
    assert code == (1 if finding else 0)
    assert document["run"]["state"] == state
    assert document["run"]["job"]["id"] == ids[name]
    if finding:
        assert f"job:{ids[name]}" in [e["ref"] for e in found[finding]["evidence"]]
        assert "job" in [e["kind"] for e in found[finding]["evidence"]]


def test_each_task_of_an_array_is_judged_for_itself(slurm: RealSlurm, ids: Ids) -> None:
    documents, code = check(slurm, f"job:{ids['array']}")
    seen = {d["run"]["job"]["id"]: (d["run"]["state"], list(alarms(d))) for d in documents}
    assert seen == {
        f"{ids['array']}_1": ("finished", []),
        f"{ids['array']}_2": ("failed", ["job_failed"]),
    }
    assert code == 1


def test_a_log_by_its_path_knows_its_job(slurm: RealSlurm, ids: Ids) -> None:
    [document], code = check(slurm, f"slurm-{ids['timeout']}.out")
    assert (document["run"]["job"]["state"], code) == ("TIMEOUT", 1)
    assert {e["kind"] for e in alarms(document)["slurm_timeout"]["evidence"]} == {"job", "log"}
    [named], _ = check(slurm, "quiet.log")
    assert named["run"]["job"]["id"] == ids["quiet"]
    assert named["run"]["state"] == "finished"


def test_the_text_says_what_the_scheduler_says(slurm: RealSlurm, ids: Ids) -> None:
    done = call("check", f"job:{ids['failed']}", folder=slurm.jobs_folder)
    assert f"  job: {ids['failed']} (wrap): FAILED after" in done.stdout
    assert "exit code 3" in done.stdout


def test_a_log_that_no_job_writes_has_none(slurm: RealSlurm, ids: Ids) -> None:
    other = slurm.jobs_folder / "notes.log"
    other.write_text("step 1 loss 2\nstep 2 loss 1\n")
    [document], _ = check(slurm, "notes.log")
    assert document["run"]["job"] is None


def test_time_left_and_the_age_of_the_answer_are_shown() -> None:
    run = Run("x")
    now = time.time()
    run.job = Job(id="7", state=JobState.RUNNING, elapsed=60.0, time_limit=3600.0, asked=now,
                  limit_at=now + 3540)  # fmt: skip
    shown = list(render_run(run, diagnose(run)))
    assert "  job: 7: RUNNING after 00:01:00 of 01:00:00, 00:59:00 left" in shown
    run.job = Job(id="7", state=JobState.RUNNING, asked=now - 3600)
    assert "  job: 7: RUNNING (said 01:00:00 ago)" in list(render_run(run, diagnose(run)))
    run.job = None
    assert not any("job:" in line for line in render_run(run, diagnose(run)))

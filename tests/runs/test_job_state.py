"""The state of a run whose job the scheduler knows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.state import RunState
from mltd.runs.summary import describe_run, has_ended, run_state

NOW = 1_750_000_000.0
STEPS = "".join(f"step {step}/100 loss 0.{step}\n" for step in range(10, 40))


def judged(
    folder: Path, state: str, text: str = STEPS, age: float = 60.0, **more: Any
) -> tuple[RunState, str]:
    """The state of a run whose log was written some seconds ago."""
    return run_state(logged(folder, state, text, age, **more), NOW)


def logged(folder: Path, state: str, text: str = STEPS, age: float = 60.0, **more: Any) -> Run:
    """A run whose log was written some seconds ago; an empty state: no job is known."""
    path = folder / "slurm-7.out"
    path.write_text(text)
    os.utime(path, (NOW - age, NOW - age))
    run = Run("7")
    read_stream(run, str(path), iter([path.read_bytes()]))
    known: dict[str, Any] = {"start": NOW - 7200, "asked": NOW - 5, "nodes": "gpu03", **more}
    run.job = Job(id="7", state=JobState(state), **known) if state else None
    return run


def test_a_job_that_completed_has_finished_whatever_its_log_lacks(tmp_path: Path) -> None:
    state, reason = judged(tmp_path, "COMPLETED", exit_code=0)
    assert state is RunState.FINISHED
    assert reason == "job 7 ended by itself without an error at step 39 of 100"


def test_an_error_in_the_log_of_a_job_that_completed_stays_one(tmp_path: Path) -> None:
    text = STEPS + "Traceback (most recent call last):\nValueError: x\n"
    assert judged(tmp_path, "COMPLETED", text)[0] is RunState.FAILED


@pytest.mark.parametrize(
    ("state", "more", "reason"),
    [
        ("TIMEOUT", {"time_limit": 3600.0}, "job 7 reached its time limit of 01:00:00"),
        ("OUT_OF_MEMORY", {}, "job 7 ran out of host memory"),
        ("PREEMPTED", {}, "job 7 was preempted"),
        ("NODE_FAIL", {}, "job 7 lost a node (gpu03)"),
        ("CANCELLED", {"cancelled_by": "anna"}, "job 7 was cancelled by anna"),
        ("FAILED", {"exit_code": 3}, "job 7 failed with exit code 3"),
        ("FAILED", {"signal": 9}, "job 7 was ended by SIGKILL"),
    ],
)
@pytest.mark.parametrize("age", [1.0, 7000.0, 3 * 86_400.0])
def test_a_job_that_is_gone_has_failed_for_the_scheduler_s_reason(
    tmp_path: Path, state: str, more: dict[str, Any], reason: str, age: float
) -> None:
    found, said = judged(tmp_path, state, age=age, start=NOW - age - 60, end=NOW - age, **more)
    assert found is RunState.FAILED
    assert said.startswith(f"{reason} at step 39 of 100")


def test_a_job_that_was_ended_after_its_last_word_has_finished(tmp_path: Path) -> None:
    for state in ("CANCELLED", "TIMEOUT", "FAILED"):
        found, said = judged(tmp_path, state, f"{STEPS}Training completed\n", exit_code=1)
        assert found is RunState.FINISHED
        assert "after that" in said


def test_a_job_that_fails_after_its_last_step_has_failed(tmp_path: Path) -> None:
    """The last step was logged, and then it could not save."""
    text = "".join(f"step {step}/100 loss 0.{step}\n" for step in range(50, 101))
    assert judged(tmp_path, "FAILED", text, exit_code=1)[0] is RunState.FAILED
    assert judged(tmp_path, "CANCELLED", text)[0] is RunState.FINISHED
    counted_from_zero = text.replace("step 100/100 loss 0.100\n", "")
    assert judged(tmp_path, "CANCELLED", counted_from_zero)[0] is RunState.FINISHED


def test_a_silent_log_of_a_running_job_has_stalled(tmp_path: Path) -> None:
    state, reason = judged(tmp_path, "RUNNING", age=2400.0)
    assert state is RunState.STALLED
    assert "silent for 40 min at step 39 of 100, though job 7 still runs on gpu03" in reason
    days = judged(tmp_path, "RUNNING", age=3 * 86_400.0, start=NOW - 4 * 86_400.0)
    assert days[0] is RunState.STALLED


def test_a_job_that_goes_on_after_an_error_is_said_to(tmp_path: Path) -> None:
    text = STEPS + "Traceback (most recent call last):\nValueError: x\n"
    state, reason = judged(tmp_path, "RUNNING", text, age=600.0)
    assert state is RunState.FAILED
    assert reason.endswith("though job 7 still runs on gpu03")
    fresh = judged(tmp_path, "RUNNING", text, age=10.0)[1]
    assert "still runs" not in fresh


def test_an_old_answer_is_not_believed(tmp_path: Path) -> None:
    found = judged(tmp_path, "RUNNING", age=2 * 86_400.0, start=NOW - 3e5, asked=NOW - 86_400.0)
    assert found[0] is RunState.UNKNOWN


def test_a_requeued_job_waits_to_run_again(tmp_path: Path) -> None:
    words = "its begin time is not reached"
    more: dict[str, Any] = {"start": None, "restarts": 1, "reason_words": words}
    state, reason = judged(tmp_path, "PENDING", **more)
    assert state is RunState.UNKNOWN
    assert reason == (
        "job 7 waits to run again (its begin time is not reached), it was at step 39 of 100"
    )
    cut = f"{STEPS}slurmstepd: error: *** JOB 7 ON n CANCELLED AT x DUE TO JOB REQUEUE ***\n"
    state, reason = judged(tmp_path, "PENDING", cut, **more)
    assert state is RunState.FAILED
    assert "waits to run again" in reason


def test_a_log_that_others_wrote_is_not_judged_by_the_job(tmp_path: Path) -> None:
    """Jobs that write one file one after another."""
    ended = judged(tmp_path, "FAILED", exit_code=1, start=NOW - 9000, end=NOW - 8000)
    assert ended[0] is RunState.RUNNING
    waiting = judged(tmp_path, "PENDING", start=None)
    assert waiting[0] is RunState.RUNNING


def test_a_run_describes_its_job() -> None:
    run = Run("7")
    assert describe_run(run)["job"] is None
    run.job = Job(id="7", state=JobState.RUNNING)
    described = describe_run(run)["job"]
    assert isinstance(described, dict)
    assert described["state"] == "RUNNING"


def test_a_log_that_a_living_job_has_not_written_to_yet_is_running(tmp_path: Path) -> None:
    assert judged(tmp_path, "RUNNING", text="") == (RunState.RUNNING, "the log is empty so far")


# -- whether more is to come ---------------------------------------------------------------------

DAY = 86_400.0
CRASH = "Traceback (most recent call last):\nValueError: x\n"


@pytest.mark.parametrize(
    ("text", "age", "expected"),
    [
        (STEPS, 60.0, False),
        (STEPS, 2 * 3600.0, False),
        (STEPS, 0.9 * DAY, False),
        (STEPS, 1.1 * DAY, True),
        (STEPS, 300 * DAY, True),
        (STEPS + "INFO Training completed successfully.\n", 60.0, True),
        (STEPS + CRASH, 3600.0, True),
    ],
    ids=["running", "stalled", "silent", "a day old", "old", "finished", "crashed"],
)
def test_a_run_has_ended_if_its_log_says_so_or_is_a_day_old(
    tmp_path: Path, text: str, age: float, expected: bool
) -> None:
    assert has_ended(logged(tmp_path, "", text, age), NOW) is expected


@pytest.mark.parametrize(
    ("state", "age", "expected"),
    [
        ("RUNNING", 2 * DAY, False),
        ("PENDING", 2 * DAY, False),
        ("CANCELLED", 60.0, True),
        ("COMPLETED", 60.0, True),
    ],
)
def test_a_job_knows_better_than_a_silent_log(
    tmp_path: Path, state: str, age: float, expected: bool
) -> None:
    known = {"start": NOW - 3 * DAY}
    assert has_ended(logged(tmp_path, state, STEPS, age, **known), NOW) is expected


def test_a_run_that_was_read_to_its_end_has_ended(tmp_path: Path) -> None:
    run = logged(tmp_path, "", STEPS)
    run.is_over = True
    assert has_ended(run, NOW)


def test_a_log_that_is_gone_and_never_said_how_it_ended_may_go_on(tmp_path: Path) -> None:
    run = logged(tmp_path, "", STEPS)
    (tmp_path / "slurm-7.out").unlink()
    assert run_state(run, NOW)[0] is RunState.UNKNOWN
    assert not has_ended(run, NOW)

"""How a job ended, in one word and in a sentence."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.describing import describe_job
from mltd.runs.schedulers.ending import End, end_in_words, end_of
from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.schedulers.waiting import never_starts


def job(state: str, **more: Any) -> Job:
    return Job(id="48213", state=JobState(state), **more)


@pytest.mark.parametrize(
    ("found", "end", "words"),
    [
        (job("COMPLETED"), End.COMPLETED, "ended by itself without an error"),
        (job("TIMEOUT", time_limit=3600.0), End.TIMEOUT, "reached its time limit of 01:00:00"),
        (job("TIMEOUT", time_limit=math.inf), End.TIMEOUT, "reached its time limit"),
        (job("DEADLINE", time_limit=3600.0), End.TIMEOUT, "reached its deadline"),
        (job("OUT_OF_MEMORY"), End.MEMORY, "ran out of host memory"),
        (job("FAILED", signal=125), End.MEMORY, "ran out of host memory"),
        (job("PREEMPTED"), End.PREEMPTED, "was preempted"),
        (job("NODE_FAIL", nodes="n1"), End.NODE, "lost a node (n1)"),
        (job("CANCELLED", cancelled_by="anna"), End.CANCELLED, "was cancelled by anna"),
        (job("CANCELLED"), End.CANCELLED, "was cancelled"),
        (job("LAUNCH_FAILED"), End.LAUNCH, "could not be started"),
        (
            job("FAILED", reason="JobLaunchFailure", signal=53, reason_words="no folder"),
            End.LAUNCH,
            "could not be started: no folder",
        ),
        (job("FAILED", reason="JobLaunchFailure", signal=9), End.SIGNAL, "was ended by SIGKILL"),
        (job("FAILED", exit_code=137), End.SIGNAL, "was ended by SIGKILL"),
        (job("FAILED", signal=99), End.SIGNAL, "was ended by signal 99"),
        (job("FAILED", exit_code=3), End.EXIT, "failed with exit code 3"),
        (job("FAILED"), End.EXIT, "failed"),
    ],
)
def test_ends(found: Job, end: End, words: str) -> None:
    assert end_of(found) is end
    assert end_in_words(found) == f"job 48213 {words}"


@pytest.mark.parametrize("state", ["RUNNING", "PENDING", "COMPLETING", "UNKNOWN", "REVOKED"])
def test_a_job_that_has_not_ended_has_no_end(state: str) -> None:
    assert end_of(job(state)) is None
    assert end_in_words(job(state)) == ""


def test_a_job_that_runs_again_has_not_ended() -> None:
    assert end_of(job("PREEMPTED", state_flags=("REQUEUED",))) is None


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("DependencyNeverSatisfied", True),
        ("(BadConstraints)", True),
        ("PartitionTimeLimit", True),
        ("QOSMaxWallDurationPerJobLimit", True),
        ("QOSMaxCpuPerJobLimit", True),
        ("AssocMaxWallDurationPerJobLimit", True),
        ("MaxMemPerLimit", True),
        ("JobHoldMaxRequeue", True),
        ("Resources", False),
        ("Priority", False),
        ("QOSMaxJobsPerUserLimit", False),
        ("QOSMaxGRESPerUser", False),
        ("AssocGrpGRES", False),
        ("JobHeldUser", False),
        ("ReqNodeNotAvail, UnavailableNodes:n1", False),
        (None, False),
    ],
)
def test_reasons_that_time_does_not_cure(reason: str | None, expected: bool) -> None:
    assert never_starts(job("PENDING", reason=reason)) is expected
    assert not never_starts(job("RUNNING", reason=reason))


def test_a_job_that_is_held_after_a_requeue_needs_a_person() -> None:
    assert never_starts(job("REQUEUE_HOLD"))
    assert never_starts(job("SPECIAL_EXIT"))


NUMBERS = st.none() | st.floats()


@given(st.sampled_from(JobState), NUMBERS, NUMBERS, st.none() | st.integers(-9, 300), st.text())
def test_any_job_is_json(
    state: JobState, limit: float | None, start: float | None, code: int | None, name: str
) -> None:
    found = Job(id="1", state=state, limit_at=limit, start=start, exit_code=code, name=name)
    described = describe_job(found)
    assert json.loads(json.dumps(described, allow_nan=False)) == described
    assert (described["id"], described["state"]) == ("1", state.value)


def test_what_is_not_known_is_null() -> None:
    described = describe_job(Job(id="1"))
    assert described["exit_code"] is None
    assert described["time_left"] is None
    assert describe_job(job("RUNNING", time_limit=math.inf, asked=1.0))["time_left"] == "inf"

"""A job's own words and sums."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.schedulers.quoting import clock, size
from mltd.runs.schedulers.slurm.reasons import in_words

HOUR = 3600.0


def test_time_left_is_counted_from_when_the_scheduler_said_so() -> None:
    job = Job(id="1", state=JobState.RUNNING, start=1000.0, time_limit=HOUR, asked=1600.0)
    assert job.time_left == 3000.0
    assert job.time_left_at(5000.0) == -400.0


def test_what_slurm_says_about_the_end_outranks_the_sum() -> None:
    job = Job(id="1", state=JobState.RUNNING, start=0.0, time_limit=HOUR, limit_at=9.0, asked=5.0)
    assert job.time_left == 4.0


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.FAILED, JobState.UNKNOWN])
def test_a_job_that_does_not_run_has_no_time_left(state: JobState) -> None:
    assert Job(id="1", state=state, start=1.0, time_limit=HOUR, asked=2.0).time_left is None


def test_nothing_is_made_up_about_an_unknown_job() -> None:
    job = Job(id="48213")
    assert (job.time_left, job.node_memory, job.signal_name) == (None, None, None)
    assert [job.is_over, job.is_running, job.is_waiting] == [False] * 3
    assert job.quote == "job 48213: UNKNOWN"


def test_a_job_that_is_being_requeued_is_not_over() -> None:
    assert not Job(id="1", state=JobState.PREEMPTED, state_flags=("REQUEUED",)).is_over


def test_every_state_is_over_or_waiting_or_neither_but_never_both() -> None:
    assert not [state for state in JobState if state.is_over and state.is_waiting]


@pytest.mark.parametrize(
    ("job", "quote"),
    [
        (
            Job(id="48213", name="train", state=JobState.TIMEOUT, elapsed=3612.0, time_limit=HOUR,
                nodes="gpu03", exit_code=0, signal=15, reason="TimeLimit", restarts=1),
            "job 48213 (train): TIMEOUT after 01:00:12 of 01:00:00 on gpu03, signal 15 (SIGTERM), "
            "reason TimeLimit, restarted once",
        ),
        (
            Job(id="7", state=JobState.FAILED, elapsed=5.0, time_limit=math.inf, exit_code=137),
            "job 7: FAILED after 00:00:05 without a limit, exit code 137 (SIGKILL)",
        ),
        (
            Job(id="7", state=JobState.OUT_OF_MEMORY, exit_code=0, signal=125,
                max_rss=int(62.5 * 2**30), requested_memory=64 * 2**30, node_count=1),
            "job 7: OUT_OF_MEMORY, signal 125, MaxRSS 62.5G of 64G",
        ),
        (
            Job(id="7", state=JobState.CANCELLED, cancelled_by="anna"),
            "job 7: CANCELLED by anna",
        ),
        (
            Job(id="7_[1-10%4]", state=JobState.PENDING, elapsed=0.0, reason="Priority"),
            "job 7_[1-10%4]: PENDING, reason Priority",
        ),
        (Job(id="7", state=JobState.COMPLETED, exit_code=0), "job 7: COMPLETED, exit code 0"),
    ],
)  # fmt: skip
def test_the_facts_in_one_line(job: Job, quote: str) -> None:
    assert job.quote == quote


@given(st.text(), st.text(), st.text())
def test_a_quote_is_one_printable_line(name: str, node: str, reason: str) -> None:
    quote = Job(id="1", name=name, nodes=node, reason=reason).quote
    assert quote.isprintable()


def test_durations_and_sizes_as_slurm_writes_them() -> None:
    assert clock(183_845) == "2-03:04:05"
    assert (size(512), size(64 * 2**30), size(3 * 2**60)) == ("512B", "64G", "3072P")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Resources", "it is next and waits for nodes to become free"),
        ("QOSMaxGRESPerUser", "the limit on GPUs or other devices of its quality of service is "
         "reached"),
        ("AssocGrpCpuLimit", "the limit on CPUs of its account is reached"),
        ("AssocGrpGRES", "the limit on GPUs or other devices of its account is reached"),
        ("ReqNodeNotAvail, Reserved_for_maintenance", "a node that it asks for is down, drained or "
         "reserved, as for maintenance (Reserved for maintenance)"),
        ("Nodes_required_for_job_are_DOWN", "Nodes required for job are DOWN"),
        ("SomethingNew", None),
        ("None", None),
        (None, None),
    ],
)  # fmt: skip
def test_reasons_in_words(reason: str | None, words: str | None) -> None:
    assert in_words(reason) == words


def test_a_failed_launch_is_told_apart_from_a_signal() -> None:
    assert "output file" in (in_words("JobLaunchFailure", 53) or "")
    assert in_words("JobLaunchFailure", 9) == "a signal ended it"
    assert in_words("JobLaunchFailure") == "it could not be started"


@given(st.text())
def test_any_reason_has_words_or_none(reason: str) -> None:
    in_words(reason)

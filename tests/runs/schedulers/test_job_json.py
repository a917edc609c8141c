"""Slurm's JSON, of all versions of its schema."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.errors import FormatError
from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.schedulers.slurm.job_json import parse_json
from tests.runs.schedulers.samples import (
    BY_VERSION,
    INFINITE,
    V0038,
    V0040,
    Document,
    answer,
    exited,
    number,
    unset,
)


def read(*documents: Document) -> list[Job]:
    return [record.job(1794852000.0) for record in parse_json(answer(*documents))]


@pytest.mark.parametrize("version", BY_VERSION)
def test_a_running_job_is_the_same_in_every_version(version: str) -> None:
    [job] = read(BY_VERSION[version])
    assert (job.id, job.raw_id, job.name, job.user) == ("48213", 48213, "train", "anna")
    assert (job.state, job.is_running, job.is_over) == (JobState.RUNNING, True, False)
    assert (job.time_limit, job.elapsed, job.time_left) == (3600.0, 400.0, 3200.0)
    assert (job.submit, job.start, job.end) == (1794851000.0, 1794851600.0, None)
    assert (job.nodes, job.node_names) == ("gpu[03-04]", ("gpu03", "gpu04"))
    assert (job.node_count, job.node_memory) == (2, 32 * 2**30)
    assert job.requested_memory == 64 * 2**30
    assert job.work_dir == "/home/anna/exp"
    assert job.stdout == job.stderr
    assert job.reason is None
    assert job.exit_code is None
    expected = "out/train-48213.txt" if version == "25.05" else "slurm-48213.out"
    assert job.stdout == f"/home/anna/exp/{expected}"


def test_a_failed_job_has_its_exit_code_in_both_forms() -> None:
    old = {**V0038, "job_state": "FAILED", "exit_code": 768, "state_reason": "NonZeroExitCode"}
    new = {**V0040, "job_state": ["FAILED"], "exit_code": exited(3)}
    assert [(job.exit_code, job.signal, job.is_over) for job in read(old, new)] == [
        (3, None, True)
    ] * 2
    assert read(old)[0].reason_words == "its script ended with an error"


def test_a_signal_is_told_apart_from_an_exit_code() -> None:
    old = {**V0038, "job_state": "TIMEOUT", "exit_code": 15}
    new = {**V0040, "job_state": ["TIMEOUT"], "exit_code": exited(0, 15)}
    assert [(job.exit_code, job.signal, job.signal_name) for job in read(old, new)] == [
        (0, 15, "SIGTERM")
    ] * 2


def test_an_array_task_and_the_tasks_that_wait_together() -> None:
    task = {**V0040, "job_id": 48220, "array_job_id": number(48213), "array_task_id": number(7)}
    rest = {
        **V0040, "array_job_id": number(48213), "array_task_id": unset(), "nodes": "",
        "array_task_string": "8-10%4", "job_state": ["PENDING"], "state_reason": "Resources",
        "start_time": number(1794860000), "end_time": number(0),
        "standard_output": "/home/anna/exp/slurm-48213_4294967294.out",
    }  # fmt: skip
    first, second = read(task, rest)
    assert (first.id, first.raw_id, first.array_task) == ("48213_7", 48220, 7)
    assert (second.id, second.array_tasks) == ("48213_[8-10%4]", "8-10%4")
    assert (second.start, second.expected_start) == (None, 1794860000.0)
    assert (second.stdout, second.elapsed, second.time_left) == (None, 0.0, None)


def test_the_default_output_of_an_array_task_in_old_versions() -> None:
    [job] = read({**V0038, "job_id": 48220, "array_job_id": 48213, "array_task_id": 7})
    assert job.stdout == job.stderr == "/home/anna/exp/slurm-48213_7.out"


def test_a_part_of_a_heterogeneous_job() -> None:
    [job] = read(
        {**V0040, "job_id": 48214, "het_job_id": number(48213), "het_job_offset": number(1)}
    )
    assert (job.id, job.het_offset) == ("48213+1", 1)


def test_an_unlimited_job_has_infinite_time_left() -> None:
    [job] = read({**V0040, "time_limit": INFINITE})
    assert job.time_limit == job.time_left == math.inf


def test_an_interactive_job_has_no_output_file() -> None:
    [job] = read({**V0038, "batch_flag": False})
    assert job.stdout is job.stderr is None


def test_a_suspended_job_does_not_grow_older() -> None:
    waiting = {"suspend_time": number(1794851700), "pre_sus_time": number(100)}
    [job] = read({**V0040, **waiting, "job_state": ["SUSPENDED"]})
    assert job.elapsed == 100.0


def test_control_characters_in_a_name_reach_no_screen() -> None:
    [job] = read({**V0040, "name": "a\x1b[31m\nb", "standard_output": "/o/%x"})
    assert job.name == "a [31m b"
    assert job.stdout == "/o/a\x1b[31m\nb"  # the file is really called that
    assert job.quote.isprintable()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"jobs": 3}', "null", "[" * 100_000])
def test_what_is_no_answer_is_an_error_in_words(text: str) -> None:
    with pytest.raises(FormatError, match="Slurm's JSON"):
        parse_json(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["set", "infinite", "number", "id", "return_code"]), inner
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(V0040)), JSON), st.sampled_from([V0038, V0040]))
def test_no_value_of_any_field_breaks_it(changed: Document, sample: Document) -> None:
    text = json.dumps({"jobs": [{**sample, **changed}, 3, None]})
    for record in parse_json(text):
        assert record.job(1794852000.0).quote

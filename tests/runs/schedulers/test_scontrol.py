"""`scontrol show job` as text."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.schedulers.slurm.scontrol import arguments, parse_text
from tests.runs.schedulers.samples import SCONTROL_22, SCONTROL_24, SCONTROL_PENDING_ARRAY


def read(text: str) -> list[Job]:
    return [record.job(1794860000.0) for record in parse_text(text)]


def test_a_job_that_ran_into_its_limit() -> None:
    [job] = read(SCONTROL_22)
    assert (job.id, job.name, job.user) == ("48213", "lr=0.1 bs 64", "anna")
    assert (job.state, job.reason, job.signal) == (JobState.TIMEOUT, "TimeLimit", 15)
    assert (job.elapsed, job.time_limit, job.restarts) == (3612.0, 3600.0, 2)
    assert (job.start, job.end) == (1794851600.0, 1794855212.0)
    assert job.work_dir == "/home/anna/my exp"
    assert job.command == "/home/anna/run me.sh"
    assert job.stdout == "/home/anna/my exp/log-gpu03.out"
    assert job.stderr == "/home/anna/my exp/48213.err"
    assert (job.node_names, job.node_memory) == (("gpu03", "gpu04"), 32 * 2**30)


def test_a_task_of_a_later_version_with_keys_that_nobody_knows() -> None:
    [job] = read(SCONTROL_24)
    assert (job.id, job.raw_id) == ("48213_7", 48220)
    assert (job.elapsed, job.time_limit) == (86_405.0, math.inf)
    assert (job.nodes, job.node_count) == ("gpu03", 1)
    assert (job.requested_memory, job.memory_per_cpu) == (16 * 2**30, 4 * 2**30)
    assert job.stdout == "/home/anna/exp/slurm-48213_7.out"
    assert job.command == "/home/anna/run.sh"


def test_tasks_that_wait_together() -> None:
    [job] = read(SCONTROL_PENDING_ARRAY)
    assert (job.id, job.state, job.stdout) == ("48213_[1-10%4]", JobState.PENDING, None)
    assert job.reason_words == "as many tasks of the array run as its % allows"


def test_several_jobs_and_a_name_with_line_breaks() -> None:
    text = SCONTROL_22.replace("lr=0.1 bs 64", "a\nJobId=x b") + SCONTROL_24
    first, second = read(text)
    assert (first.name, second.id) == ("a JobId=x b", "48213_7")


@given(st.text(), st.integers(0, len(SCONTROL_22)), st.integers(0, len(SCONTROL_22)))
def test_cut_and_garbled_text_breaks_nothing(noise: str, start: int, end: int) -> None:
    for job in read(SCONTROL_22[:start] + noise + SCONTROL_22[end:]):
        assert job.quote


@given(st.text(st.characters(exclude_characters="\n=")).filter(lambda name: name.strip(" \n")))
def test_any_name_without_equal_signs_is_read_back(name: str) -> None:
    [record] = parse_text(SCONTROL_22.replace("lr=0.1 bs 64", name))
    assert record.name == name.strip(" \n")
    assert record.user == "anna"


def test_the_command_has_the_id_as_one_argument() -> None:
    assert arguments("48213_7")[-1] == "48213_7"

"""`sacct`: jobs that ended long ago, and the memory of their steps."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.schedulers.slurm.sacct import arguments, fields, parse_text

MARK = "#12ab#"
JOB = {
    "JobID": "48213", "JobIDRaw": "48213", "JobName": "train", "User": "anna",
    "State": "OUT_OF_MEMORY", "ExitCode": "0:125", "Submit": "1794851000", "Start": "1794851600",
    "End": "1794855200", "ElapsedRaw": "3600", "TimelimitRaw": "120", "NNodes": "1",
    "NodeList": "gpu03", "Partition": "gpu", "ReqMem": "64G", "ReqTRES": "cpu=8,mem=64G,node=1",
    "AllocTRES": "cpu=8,mem=64G,node=1", "MaxRSS": "", "MaxRSSNode": "", "Reason": "None",
    "WorkDir": "/home/anna/exp", "StdOut": "/home/anna/exp/%x-%j.out", "StdErr": "",
}  # fmt: skip
STEP = {**JOB, "User": "", "JobName": "batch", "ReqMem": "", "TimelimitRaw": ""}
OLD, NEW = fields((21, 8)), fields((24, 5))


def printed(names: tuple[str, ...], *rows: dict[str, str]) -> str:
    return "".join("".join(f"{row[name]}{MARK}" for name in names) + "\n" for row in rows)


def read(names: tuple[str, ...], *rows: dict[str, str]) -> list[Job]:
    found = parse_text(printed(names, *rows), MARK, names)
    return [record.job(1794860000.0) for record in found]


def test_the_largest_step_tells_how_much_memory_was_used() -> None:
    batch = {**STEP, "JobID": "48213.batch", "MaxRSS": "1024K", "MaxRSSNode": "gpu03"}
    step = {**STEP, "JobID": "48213.0", "MaxRSS": "62.5G", "MaxRSSNode": "gpu03"}
    [job] = read(OLD, JOB, batch, step)
    assert (job.id, job.state) == ("48213", JobState.OUT_OF_MEMORY)
    assert (job.max_rss, job.node_memory) == (int(62.5 * 2**30), 64 * 2**30)
    assert job.max_rss_node == "gpu03"
    assert (job.elapsed, job.time_limit) == (3600.0, 7200.0)
    assert "MaxRSS 62.5G of 64G" in job.quote


def test_output_is_known_since_the_version_that_keeps_it() -> None:
    [old], [new] = read(OLD, JOB), read(NEW, JOB)
    assert old.stdout is None
    assert new.stdout == new.stderr == "/home/anna/exp/train-48213.out"
    assert fields(None) == OLD


def test_who_cancelled_a_job_and_one_without_limit() -> None:
    [job] = read(OLD, {**JOB, "State": "CANCELLED by 1001", "TimelimitRaw": "UNLIMITED"})
    assert (job.state, job.cancelled_by, job.time_limit) == (JobState.CANCELLED, "1001", math.inf)


def test_tasks_parts_and_tasks_that_wait() -> None:
    task = {**JOB, "JobID": "48213_7", "JobIDRaw": "48220"}
    part = {**JOB, "JobID": "48213+1", "JobIDRaw": "48214"}
    rest = {**JOB, "JobID": "48213_[8-10%4]", "State": "PENDING", "Start": "Unknown"}
    found = read(OLD, task, part, rest)
    assert [job.id for job in found] == ["48213_7", "48213+1", "48213_[8-10%4]"]
    assert [job.raw_id for job in found[:2]] == [48220, 48214]


def test_memory_for_a_cpu_or_a_node_as_versions_before_21_08_give_it() -> None:
    bare = {**JOB, "ReqTRES": "", "AllocTRES": ""}
    [cpu] = read(OLD, {**bare, "ReqMem": "2Gc"})
    [node] = read(OLD, {**bare, "ReqMem": "64Gn"})
    assert (cpu.memory_per_cpu, cpu.requested_memory) == (2 * 2**30, None)
    assert (node.memory_per_node, node.node_memory) == (64 * 2**30, 64 * 2**30)


@given(st.text(max_size=40).filter(lambda name: MARK[:-1] not in name))
def test_any_name_leaves_the_other_jobs_in_place(name: str) -> None:
    found = read(OLD, {**JOB, "JobName": name}, {**JOB, "JobID": "48214", "JobIDRaw": "48214"})
    assert [job.id for job in found] == ["48213", "48214"]


@given(st.text(alphabet="#12ab |\n_[].+"))
def test_garbled_text_breaks_nothing(noise: str) -> None:
    parse_text(noise + printed(OLD, JOB)[:200] + noise, MARK, OLD)


def test_only_the_users_own_jobs_are_asked_for() -> None:
    asked = arguments(1001, MARK, OLD, job_id="48213")
    assert {"--user=1001", "--jobs=48213"} < set(asked)
    assert "--starttime=now-1days" in arguments(1001, MARK, OLD)

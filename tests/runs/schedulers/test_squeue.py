"""`squeue` as text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.schedulers.slurm.squeue import (
    json_arguments,
    parse_text,
    text_arguments,
    without_padding,
)

MARK = "#12ab#"
RUNNING = {
    "JobID": "31", "ArrayJobID": "31", "ArrayTaskID": "N/A", "HetJobID": "N/A",
    "HetJobOffset": "N/A", "Name": "train", "UserName": "anna", "State": "RUNNING",
    "Reason": "None", "exit_code": "0", "RestartCnt": "1", "STDOUT": "/w/log-%x-%5j.out",
    "STDERR": "/w/log-%x-%5j.out", "WorkDir": "/w", "Command": "/w/run.sh", "BatchFlag": "1",
    "BatchHost": "vm", "Partition": "gpu", "NodeList": "vm", "NumNodes": "1",
    "TimeLimit": "1:00:00", "TimeUsed": "0:30", "StartTime": "1794851600",
    "EndTime": "1794855200", "SubmitTime": "1794851000", "tres-alloc": "cpu=1,mem=16G,node=1",
}  # fmt: skip


def printed(*rows: dict[str, str]) -> str:
    """As squeue pads and cuts the values."""
    fields = text_arguments(0, MARK)[-1].removeprefix("--Format=").split(",")
    widths = {name: int(rest.split("#")[0]) for name, rest in (f.split(":") for f in fields)}
    lines = ("".join(f"{row[n][:w]:{w}}{MARK}" for n, w in widths.items()) + "\n" for row in rows)
    return "".join(lines)


def read(text: str) -> list[Job]:
    return [record.job(1794851630.0) for record in parse_text(text, MARK)]


def test_a_running_job() -> None:
    [job] = read(printed(RUNNING))
    assert (job.id, job.state, job.restarts) == ("31", JobState.RUNNING, 1)
    assert (job.time_limit, job.elapsed, job.time_left) == (3600.0, 30.0, 3570.0)
    assert job.stdout == job.stderr == "/w/log-train-00031.out"
    assert (job.requested_memory, job.nodes) == (16 * 2**30, "vm")


def test_the_default_output_of_an_array_task_which_squeue_prints_wrongly() -> None:
    row = {**RUNNING, "ArrayJobID": "20", "ArrayTaskID": "3"}
    wrong = {"STDOUT": "/w/slurm-31.out", "STDERR": "/w/slurm-31.out"}
    chosen = {"STDOUT": "/w/slurm-%j.out", "STDERR": "/w/%a.err"}
    first, second = read(printed({**row, **wrong}, {**row, **chosen}))
    assert (first.stdout, first.stderr) == ("/w/slurm-20_3.out", "/w/slurm-20_3.out")
    assert (second.stdout, second.stderr) == ("/w/slurm-31.out", "/w/3.err")


def test_tasks_that_wait_together_and_a_part_of_a_heterogeneous_job() -> None:
    waiting = {"State": "PENDING", "StartTime": "1794860000", "EndTime": "NONE", "NodeList": ""}
    tasks = {**RUNNING, **waiting, "ArrayTaskID": "1-10%4"}
    part = {**RUNNING, "HetJobID": "30", "HetJobOffset": "1"}
    first, second = read(printed(tasks, part))
    assert (first.id, first.expected_start) == ("31_[1-10%4]", 1794860000.0)
    assert (first.start, first.nodes, first.elapsed) == (None, None, 0.0)
    assert second.id == "30+1"


def test_an_ended_job() -> None:
    [job] = read(printed({**RUNNING, "State": "FAILED", "exit_code": "768"}))
    assert (job.exit_code, job.end, job.time_left) == (3, 1794855200.0, None)


def test_an_interactive_job_has_no_output_file() -> None:
    [job] = read(printed({**RUNNING, "BatchFlag": "0", "STDERR": "N/A"}))
    assert job.stdout is job.stderr is None


def test_a_path_that_squeue_cut_off_is_not_known() -> None:
    [job] = read(printed({**RUNNING, "STDOUT": "/w/" + "x" * 2000}))
    assert job.stdout is None


def test_the_headline_of_a_cluster_is_passed_over() -> None:
    assert [job.id for job in read("CLUSTER: east\n" + printed(RUNNING))] == ["31"]


@given(st.text(max_size=60).filter(lambda name: MARK[:-1] not in name))
def test_any_name_leaves_the_other_values_in_place(name: str) -> None:
    text = printed({**RUNNING, "Name": name}, RUNNING)
    for printing in (text, without_padding(text, MARK)):
        first, second = parse_text(printing, MARK)
        assert (first.name or "") == name.strip(" \n")
        assert (first.user, second.name) == ("anna", "train")


@given(st.text(alphabet="#12ab \n3"))
def test_garbled_text_breaks_nothing(noise: str) -> None:
    read(noise)
    read(noise + printed(RUNNING)[:500])


def test_only_the_users_own_jobs_are_asked_for() -> None:
    assert "--user=1001" in text_arguments(1001, MARK)
    assert "--user=1001" in json_arguments(1001)

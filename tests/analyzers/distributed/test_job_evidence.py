"""What a scheduler says about a run's job is evidence, beside what the log says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.run import Run
from mltd.runs.schedulers.job import Job, JobState
from mltd.runs.state import RunState
from mltd.runs.summary import run_state
from tests.analyzers.distributed.scheduled import GIB, SLURM, TRACEBACK, ask, job, logged
from tests.analyzers.distributed.told import alarms, cause, finding, severity

ENDS = [
    ("TIMEOUT", {"reason": "TimeLimit", "signal": 15}, "slurm_timeout", "time_limit"),
    ("DEADLINE", {}, "slurm_timeout", "time_limit"),
    ("FAILED", {"reason": "TimeLimit"}, "slurm_timeout", "time_limit"),
    ("OUT_OF_MEMORY", {}, "host_oom", "host_memory_limit"),
    ("FAILED", {"signal": 125}, "host_oom", "host_memory_limit"),
    ("FAILED", {"reason": "OutOfMemory", "exit_code": 1}, "host_oom", "host_memory_limit"),
    ("PREEMPTED", {}, "slurm_preempted", "preemption"),
    ("NODE_FAIL", {}, "slurm_node_fail", "node_failure"),
    ("BOOT_FAIL", {}, "slurm_node_fail", "node_failure"),
    ("CANCELLED", {"cancelled_by": "bert"}, "slurm_cancelled", "cancelled_by_person"),
]


@pytest.mark.parametrize(("state", "more", "identity", "root"), ENDS)
def test_an_end_that_only_the_scheduler_knows_is_found(
    state: str, more: dict[str, object], identity: str, root: str
) -> None:
    ended = job(state, **more)
    told = ask(ended)
    found = finding(told, identity)
    assert [one.id for one in told.findings if one.is_alarm] == [identity]
    assert (found.basis, found.confidence) == (Basis.OBSERVATION, 0.95)
    assert found.evidence[0] == Evidence(EvidenceKind.JOB, "job:48213", ended.quote)
    assert found.first_step == 39
    assert told.status == "diagnosis_complete"
    assert told.root_causes[0].id == root


@pytest.mark.parametrize(
    ("state", "identity", "line"),
    [
        ("TIMEOUT", "slurm_timeout", f"{SLURM} DUE TO TIME LIMIT ***"),
        ("PREEMPTED", "slurm_preempted", f"{SLURM} DUE TO PREEMPTION ***"),
        ("NODE_FAIL", "slurm_node_fail", f"{SLURM} DUE TO NODE FAILURE ***"),
        ("CANCELLED", "slurm_cancelled", f"{SLURM} ***"),
        (
            "OUT_OF_MEMORY",
            "host_oom",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=48213.batch.",
        ),
    ],
)
def test_what_the_log_says_as_well_is_one_finding(state: str, identity: str, line: str) -> None:
    told = ask(job(state), line)
    found = finding(told, identity)
    assert [one.id for one in told.findings if one.is_alarm] == [identity]
    assert {shown.kind for shown in found.evidence} == {EvidenceKind.JOB, EvidenceKind.LOG}
    assert "train.log:40" in [shown.ref for shown in found.evidence]


def test_the_scheduler_knows_better_than_a_line_without_a_reason() -> None:
    assert alarms(ask(job("TIMEOUT"), f"{SLURM} ***")) == {"slurm_timeout"}
    told = ask(job("TIMEOUT"), "Killed")
    assert severity(told, "host_oom") is None


def test_who_cancelled_is_named() -> None:
    def title(**more: object) -> str:
        return finding(ask(job("CANCELLED", **more)), "slurm_cancelled").title

    assert "by user bert" in title(cancelled_by="bert")
    assert "by its owner anna" in title(cancelled_by="anna")
    assert "by root, an administrator or the scheduler itself" in title(cancelled_by="root")
    assert "no reason given" in title()
    assert cause(ask(job("CANCELLED", cancelled_by="b-1.x")), "cancelled_by_person").issue == (
        "the job was cancelled by b-1.x, not by an error of its own"
    )


def test_a_job_that_was_cancelled_after_its_work_is_no_alarm() -> None:
    told = ask(job("CANCELLED", cancelled_by="anna"), "Training completed")
    assert (told.status, alarms(told)) == ("healthy", set())
    assert severity(told, "slurm_cancelled") is Severity.INFO


@pytest.mark.parametrize("state", ["CANCELLED", "FAILED"])
def test_an_error_of_the_run_is_not_told_twice(state: str) -> None:
    told = ask(job(state, exit_code=1), TRACEBACK)
    assert [one.id for one in told.findings if one.is_alarm] == ["exception"]


def test_memory_is_compared_with_what_the_job_may_use() -> None:
    told = ask(job("OUT_OF_MEMORY", max_rss=63 * GIB))
    assert "MaxRSS 63G of 64G on a node" in finding(told, "host_oom").title
    unknown = finding(ask(job("OUT_OF_MEMORY", memory_per_node=None)), "host_oom")
    assert "of" not in unknown.title.partition("host memory")[2]


@pytest.mark.parametrize(
    ("used", "least", "most"), [(63 * GIB, 0.65, 0.7), (None, 0.55, 0.65), (GIB, 0.0, 0.5)]
)
def test_a_kill_without_a_reason_is_judged_by_the_memory(
    used: int | None, least: float, most: float
) -> None:
    found = finding(ask(job("FAILED", signal=9, max_rss=used)), "host_oom")
    assert found.basis is Basis.INFERENCE
    assert least <= found.confidence <= most


@pytest.mark.parametrize(
    ("more", "identity"),
    [
        ({"exit_code": 137}, "host_oom"),
        ({"exit_code": 139}, "rank_failure"),
        ({"signal": 11}, "rank_failure"),
        ({"signal": 7}, "rank_failure"),
        ({"signal": 6}, "exception"),
        ({"exit_code": 143}, "slurm_cancelled"),
        ({"exit_code": 3}, "job_failed"),
        ({"exit_code": 127}, "job_failed"),
        ({"exit_code": 130}, "job_failed"),
        ({"signal": 10}, "job_failed"),
        ({}, "job_failed"),
    ],
)
def test_codes_and_signals_of_a_silent_log(more: dict[str, int], identity: str) -> None:
    told = ask(job("FAILED", **more))
    found = finding(told, identity)
    assert found.is_alarm
    assert found.evidence[0].ref == "job:48213"
    assert run_state(logged(job("FAILED", **more)))[0] is RunState.FAILED


def test_a_crash_has_its_line_and_its_record_as_evidence() -> None:
    found = finding(ask(job("FAILED", signal=11), "Segmentation fault"), "rank_failure")
    assert [shown.ref for shown in found.evidence] == ["train.log:40", "job:48213"]


def test_an_exit_code_asks_for_the_file_that_was_not_opened() -> None:
    told = ask(job("FAILED", exit_code=3, stderr="/home/anna/err/48213.err"))
    assert told.root_causes[0].id == "unseen_error"
    assert told.status == "needs_more_data"
    assert any("/home/anna/err/48213.err" in request for request in told.requests)
    assert len(told.root_causes[0].fixes) >= 3


def test_a_command_that_was_not_found_is_the_environment_s_fault() -> None:
    told = ask(job("FAILED", exit_code=127))
    assert "a command that is not found" in finding(told, "job_failed").title
    assert told.root_causes[0].id == "incompatible_environment"


def test_a_failure_after_the_training_is_a_warning() -> None:
    told = ask(job("FAILED", exit_code=1), "Training completed")
    found = finding(told, "job_failed")
    assert found.severity is Severity.WARNING
    assert "after the training was through" in found.title


@pytest.mark.parametrize("line", ["srun: error: gpu03: task 0: Exited with exit code 3", TRACEBACK])
def test_an_exit_code_that_the_log_explains_is_no_finding(line: str) -> None:
    assert severity(ask(job("FAILED", exit_code=3), line), "job_failed") is None


@pytest.mark.parametrize("state", ["COMPLETED", "RUNNING", "PENDING", "REVOKED", "UNKNOWN"])
def test_a_job_that_did_not_end_badly_is_no_alarm(state: str) -> None:
    assert not ask(job(state, exit_code=0)).has_alarm


def test_of_several_nodes_none_is_accused() -> None:
    lost = job("NODE_FAIL", nodes="gpu[03-04]", node_names=("gpu03", "gpu04"), node_count=2)
    told = ask(lost)
    assert cause(told, "node_failure").issue == "a node of the job failed or was cut off"
    named = ask(lost, "srun: error: Node failure on gpu04")
    assert cause(named, "node_failure").issue == "node gpu04 failed"


@pytest.mark.parametrize(
    ("reason", "words", "part"),
    [
        ("DependencyNeverSatisfied", "the job that it waits for failed", "dependency"),
        ("BadConstraints", "no node can ever give what it asks for", "request for resources"),
        ("PartitionTimeLimit", "it asks for more time than its partition allows", "time limit"),
        ("QOSMaxWallDurationPerJobLimit", "the limit on time is reached", "time limit"),
    ],
)
def test_a_job_that_can_never_start_is_a_bad_request(reason: str, words: str, part: str) -> None:
    run = Run("48213 train")
    run.job = job("PENDING", reason=reason, reason_words=words, start=None)
    told = diagnose(run)
    found = finding(told, "orchestration_error")
    assert found.severity is Severity.CRITICAL
    assert words in found.title
    assert cause(told, "bad_job_request").issue == f"the job's {part} was not accepted"
    assert told.status == "diagnosis_complete"


@pytest.mark.parametrize("reason", ["Resources", "Priority", "QOSMaxJobsPerUserLimit", "BeginTime"])
def test_a_job_that_only_has_to_wait_is_no_alarm(reason: str) -> None:
    run = Run("48213 train")
    run.job = job("PENDING", reason=reason, start=None)
    assert not diagnose(run).has_alarm


def test_a_job_that_could_not_be_started_is_a_bad_request() -> None:
    run = Run("48213 train")
    words = "its output file or its work directory cannot be opened on the node"
    run.job = job("FAILED", reason="JobLaunchFailure", signal=53, reason_words=words)
    told = diagnose(run)
    assert words in finding(told, "orchestration_error").title
    assert "output path" in cause(told, "bad_job_request").issue
    assert severity(ask(job("LAUNCH_FAILED")), "orchestration_error") is Severity.WARNING


JOBS = st.builds(
    Job,
    id=st.sampled_from(["1", "48213_7", "48213_[1-10%4]", "48213+1"]),
    state=st.sampled_from(JobState),
    state_flags=st.sampled_from([(), ("COMPLETING",), ("REQUEUED",)]),
    name=st.none() | st.text(max_size=8),
    reason=st.none() | st.sampled_from(["TimeLimit", "OutOfMemory", "JobLaunchFailure", "x,y"]),
    reason_words=st.none() | st.text(max_size=8),
    exit_code=st.none() | st.integers(-2, 300),
    signal=st.none() | st.integers(0, 130),
    cancelled_by=st.none() | st.text(max_size=8),
    nodes=st.none() | st.text(max_size=8),
    time_limit=st.none() | st.floats(0),
    elapsed=st.none() | st.floats(0, 1e9),
    start=st.none() | st.floats(0, 2e9),
    end=st.none() | st.floats(0, 2e9),
    limit_at=st.none() | st.floats(0, 2e9),
    asked=st.none() | st.floats(0, 2e9),
    restarts=st.none() | st.integers(0, 9),
    memory_per_node=st.none() | st.integers(0, 2**50),
    max_rss=st.none() | st.integers(0, 2**50),
)
LINES = st.lists(
    st.sampled_from(
        ["Killed", TRACEBACK, f"{SLURM} ***", "Training completed", "step 1/9 loss 1", "step 8/9",
         "Resuming from checkpoint a", "Saved checkpoint at step 3", "Epoch 3/9 loss 2"]
    ),
    max_size=6,
)  # fmt: skip


@settings(max_examples=150)
@given(JOBS, LINES)
def test_no_job_breaks_anything_or_is_told_twice(found: Job, lines: list[str]) -> None:
    told = ask(found, *lines)
    records = [one.id for one in told.findings for e in one.evidence if e.ref == f"job:{found.id}"]
    assert len(records) == len(set(records))
    state, reason = run_state(logged(found, *lines), 2e9)
    assert reason
    assert state is not RunState.RUNNING or not found.is_over

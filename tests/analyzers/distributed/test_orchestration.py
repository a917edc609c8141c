"""Submissions, launches and trackers that failed beside the training."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.run import Run, SourceFile
from tests.analyzers.distributed.told import alarms, cause, finding, severity, tell

REJECTED = {
    "sbatch: error: Batch job submission failed: Invalid account or account/partition combination "
    "specified": "account",
    "sbatch: error: invalid partition specified: gpux": "partition",
    "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or "
    "exceeds some limit)": "time limit",
    "sbatch: error: QOSMaxSubmitJobPerUserLimit": "quota",
    "srun: error: Unable to allocate resources: Requested node configuration is not available":
        "request for resources",
    "sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification":
        "request for resources",
    "42 gpu train anna PD 0:00 2 (DependencyNeverSatisfied)": "dependency",
    "JobState=PENDING Reason=DependencyNeverSatisfied Dependency=afterok:12(failed)": "dependency",
    "qsub: Unauthorized Request  MSG=group ACL is not satisfied": "account",
    "User cannot use the queue. Job not submitted.": "partition",
    'Unable to run job: job rejected: the requested project "x" does not exist.': "account",
}  # fmt: skip


@pytest.mark.parametrize(("line", "part"), REJECTED.items())
def test_a_rejected_request_says_which_part_is_wrong(line: str, part: str) -> None:
    told = tell(line, steps="")
    assert severity(told, "orchestration_error") is Severity.CRITICAL
    best = cause(told, "bad_job_request")
    assert part in best.issue
    assert best.confidence > 0.8
    assert len(best.fixes) >= 3


@pytest.mark.parametrize(
    "line",
    [
        "TimeoutError: Only 0/4 workers arrived after 300s",
        "RuntimeError: Command exited with non-zero exit code. Exit code: 1 Command: sbatch x.sh",
        "distributed.scheduler.KilledWorker: Attempted to run task 'train' on 4 different workers, "
        "but all those workers died while running it.",
        "12:00:00.000 | ERROR   | Flow run 'red-fox' - Crash detected! Execution was interrupted "
        "by an unexpected exception: ConnectError",
        "12:00:00.000 | ERROR   | prefect.worker - Failed to submit flow run 'abc' to a pool.",
        "[2024-01-01T00:00:00] {scheduler_job.py:687} ERROR - Executor reports task instance <x> "
        "finished (failed) although the task says its queued. Was the task killed externally?",
        "airflow.exceptions.AirflowException: Bash command failed.",
        "submitit.core.utils.FailedSubmissionError: Could not submit the job",
        "ray.tune.error.TuneError: ('Trials did not complete', [train_abc])",
        "Warning  FailedScheduling  0/5 nodes are available: 5 Insufficient nvidia.com/gpu.",
        "Back-off restarting failed container",
        "Warning  Failed  Error: ImagePullBackOff",
        'Error from server (Forbidden): error when creating "job.yaml": exceeded quota',
        "srun: error: Task launch for StepId=12.0 failed on node n1: Communication failure",
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "wandb: ERROR Detected 3 failed runs in the first 60 seconds, killing sweep.",
        "Could not find 'hydra/launcher/submitit_slurm'",
    ],
)
def test_orchestrators_of_all_kinds_are_understood(line: str) -> None:
    assert "orchestration_error" in alarms(tell(line, steps=""))


@pytest.mark.parametrize(
    "lines",
    [
        ["Submitted batch job 42"],
        ["qsub: waiting for job 12.head to start", "qsub: job 12.head ready"],
        ["12:00:00.000 | INFO    | Flow run 'red-fox' - Finished in state Completed()"],
        ["srun: error: Timed out waiting for job step to complete"],
        ["slurmstepd: error: execve(): python: No such file or directory"],
    ],
)
def test_success_effects_and_environments_are_left_alone(lines: list[str]) -> None:
    assert "orchestration_error" not in alarms(tell(*lines))


def test_waiting_for_resources_that_came_is_no_alarm() -> None:
    waits = "Warning  FailedScheduling  0/5 nodes are available: 5 Insufficient nvidia.com/gpu."
    assert alarms(tell(waits)) == set()


def test_what_an_orchestrator_says_about_the_run_s_own_error_is_information() -> None:
    told = tell(
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 30, in main',
        "    y = model(x)",
        "ValueError: bad thing",
        "12:00:00.000 | ERROR   | Flow run 'red-fox' - Finished in state Failed('Flow run ...')",
    )
    assert severity(told, "orchestration_error") is Severity.INFO


def test_a_scheduler_out_of_reach_is_a_failure_of_communication() -> None:
    told = tell(
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)", steps=""
    )
    assert [c.id for c in told.root_causes] == ["communication_failure"]


def offline(*paths: str) -> Run:
    """A run with W&B's offline files."""
    run = Run("offline")
    run.is_over = True
    for path in paths:
        run.add_file(SourceFile(path, format="wandb"))
    return run


def test_an_offline_folder_is_named_but_no_alarm() -> None:
    told = diagnose(offline("wandb/offline-run-20240101_000000-abc/run-abc.wandb"))
    found = finding(told, "unsynced_wandb")
    assert found.severity is Severity.INFO
    assert "wandb/offline-run-20240101_000000-abc" in found.title


def test_a_synced_or_online_run_is_no_finding() -> None:
    path = "wandb/offline-run-20240101_000000-abc/run-abc.wandb"
    assert severity(diagnose(offline(path, f"{path}.synced")), "unsynced_wandb") is None
    assert severity(diagnose(offline("wandb/run-1/run-abc.wandb")), "unsynced_wandb") is None


@pytest.mark.parametrize(
    "line",
    [
        "wandb: WARNING wandb-core exited unexpectedly with code 1",
        "wandb: ERROR Internal wandb error: file data was not synced",
        "wandb.sdk.lib.sock_client.SockClientClosedError",
    ],
)
def test_a_tracker_that_died_is_a_warning_at_most(line: str) -> None:
    told = tell(line, "step 40 | loss 0.4 | lr 1e-4", "Training completed")
    assert severity(told, "unsynced_wandb") is Severity.WARNING
    assert cause(told, "tracker_offline").fixes[0].example.startswith("wandb sync")


def test_a_failed_run_with_offline_data_is_worth_a_warning() -> None:
    told = tell("wandb: W&B syncing is set to `offline` in this directory.", "KeyError: 'a'")
    assert severity(told, "unsynced_wandb") is Severity.WARNING

"""Time limits, preemptions, lost nodes, cancellations: in the words of many schedulers."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import EvidenceKind, Severity
from tests.analyzers.distributed.told import STEPS, alarms, cause, finding, severity, tell

SLURM = "slurmstepd: error: *** JOB 42 ON n7 CANCELLED AT 2024-05-01T10:00:00"
SAID = {
    "slurm_timeout": [
        f"{SLURM} DUE TO TIME LIMIT ***",
        "slurmstepd: error: *** STEP 42.0 ON n7 CANCELLED AT 2024-05-01T10:00:00 DUE TO TIME LIMIT",
        "slurmstepd-io-cpu-09: error: *** JOB 42 CANCELLED DUE TO TIME LIMIT ***",
        f" 42%|████▏     | 21/50 [00:10<00:14,  2.0it/s]{SLURM} DUE TO TIME LIMIT ***",
        "JOB 42 ON n7 CANCELLED AT 2024-05-01T10:00:00 DUE TO TIME LIMIT",
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        "TERM_CPULIMIT: job killed after reaching LSF CPU usage limit.",
        "=>> PBS: job killed: walltime 3622 exceeded limit 3600",
        "job 123 exceeded hard wallclock time - initiate terminate method",
        "failed       37  : qmaster enforced h_rt, h_cpu, or h_vmem limit",
        "JobState=TIMEOUT Reason=TimeLimit Dependency=(null)",
        "State: TIMEOUT (exit code 0)",
        "42           train        gpu       lab          8    TIMEOUT      0:0",
        "42|train|TIMEOUT|0:0",
        "Reason: DeadlineExceeded",
        "Job was active longer than specified deadline",
        "submitit WARNING (2024-01-01 00:00:00,000) - Caught signal SIGUSR1 on n1: "
        "this job is timed-out.",
        "job.exception type=timeout severity=0 resource allocation expired",
        "slurm_script: Job 42 time limit exhausted",
        "Slurm Job_id=42 Name=train Failed, Run time 1-00:00:15, TIMEOUT",
        "Exit_status = -11 (JOB_EXEC_KILL_WALLTIME)",
        "Job aborted due to walltime limit",
        "cobalt: maximum runtime of job has been exceeded",
    ],
    "slurm_preempted": [
        f"{SLURM} DUE TO PREEMPTION ***",
        f"{SLURM} DUE TO JOB REQUEUE ***",
        "TERM_PREEMPT: job killed after preemption.",
        "State: PREEMPTED (exit code 0)",
        "42           train        gpu       lab          8  PREEMPTED      0:0",
        "Job 42 was preempted and requeued",
        "Pod train-0 was evicted",
        "Instance was preempted.",
        "TPU node v3-8 was preempted",
        "Spot instance interruption notice received",
        "Received preemption notice, saving",
        "Handling auto-requeue signal: 10",
        "Slurm Job_id=42 Name=train Failed, Run time 02:00:15, PREEMPTED, ExitCode 0",
        "slurm signal handler: received SIGUSR1, requeueing",
    ],
    "slurm_node_fail": [
        f"{SLURM} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",
        "srun: error: Node failure on n7",
        "State: NODE_FAIL",
        "JobState=BOOT_FAIL Reason=None",
        "42|train|NODE_FAIL|1:0",
        "PBS: job killed: node 2 (n7) requested job terminate, 'EOF' (code 1099) - "
        "received SISTER_EOF",
        "The node with node id: abc has been marked dead: the detector has missed heartbeats.",
        "Job step's nodes failed: n7",
        "ray.exceptions.NodeDiedError: Task failed due to the node being dead or unavailable.",
        "Node n7 not ready; marking pod for deletion",
    ],
    "slurm_cancelled": [
        f"{SLURM} ***",
        f"{SLURM} DUE to SIGNAL Terminated ***",
        f"29948it [35:34,  7.00s/it]{SLURM} ***",
        "State: CANCELLED by 1000",
        "42.batch|batch|CANCELLED by 1000|0:15",
        "TERM_OWNER: job killed by owner.",
        "TERM_ADMIN: job killed by root or LSF administrator.",
        "Job deleted at request of anna@head",
        "Job removed: via condor_rm (by user anna)",
        "[rank: 0] Received SIGTERM: 15",
        "W0101 00:00:00.000000 12 torch/distributed/elastic/agent/server/api.py:704] "
        "Received 15 death signal, shutting down workers",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 12 got signal: 15",
        "exiting program after receiving SIGTERM.",
        "Exited with exit code 143.",
        "SIGTERM received. Saving checkpoint...",
        "lightning_fabric.utilities.exceptions.SIGTERMException",
        "salloc: Job allocation 42 has been revoked.",
    ],
}
CAUSES = {
    "slurm_timeout": "time_limit",
    "slurm_preempted": "preemption",
    "slurm_node_fail": "node_failure",
    "slurm_cancelled": "cancelled_by_person",
}


@pytest.mark.parametrize(
    ("identity", "line"), [(identity, line) for identity, lines in SAID.items() for line in lines]
)
def test_an_end_from_outside_is_found_in_any_scheduler_s_words(identity: str, line: str) -> None:
    told = tell(line)
    assert alarms(told) == {identity}
    assert finding(told, identity).first_step == 39
    assert cause(told, CAUSES[identity]).confidence == max(c.confidence for c in told.root_causes)


@pytest.mark.parametrize(
    "line",
    [
        "#SBATCH --time=24:00:00",
        "SLURM auto-requeueing enabled. Setting signal handlers.",
        "Submitted batch job 42",
        "Episode 12 ended: time limit reached",
        "TimeLimit.truncated: True",
        "Wall time: 5.04 s",
        "State: RUNNING",
        "This instance may be preempted at any time",
        "preemptible: true",
        "CANCELLED orders in the data set: 12",
        "Setting signal handlers for SIGTERM",
        "The graph has 12 nodes, node failure rate 0.1",
        'print("slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***")'[:60],
    ],
)
def test_words_that_only_look_like_an_end_are_no_alarm(line: str) -> None:
    assert alarms(tell(line, "step 40 | loss 0.4 | lr 1e-4", "Training completed")) == set()


def test_a_stated_time_limit_is_a_sure_diagnosis() -> None:
    told = tell(f"{SLURM} DUE TO TIME LIMIT ***")
    assert told.status == "diagnosis_complete"
    assert severity(told, "slurm_timeout") is Severity.CRITICAL
    assert cause(told, "time_limit").confidence > 0.9
    assert "job 42" in finding(told, "slurm_timeout").title
    assert "n7" in finding(told, "slurm_timeout").title


def test_a_reason_on_the_next_line_belongs_to_the_message() -> None:
    told = tell(f"{SLURM} DUE", "TO TIME LIMIT ***")
    assert alarms(told) == {"slurm_timeout"}
    assert "job 42" in finding(told, "slurm_timeout").title


def test_the_scheduler_s_state_outranks_a_message() -> None:
    told = tell(
        f"{SLURM} ***",
        "42           train        gpu       lab          8    TIMEOUT      0:0",
        "42.batch     batch                  lab          8  CANCELLED     0:15",
    )
    assert alarms(told) == {"slurm_timeout"}
    assert finding(told, "slurm_timeout").evidence[0].kind is EvidenceKind.JOB


def test_a_message_outranks_a_signal() -> None:
    told = tell(
        "[rank: 0] Received SIGTERM: 15",
        f"{SLURM} DUE TO PREEMPTION ***",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "srun: error: n7: task 0: Terminated",
    )
    assert alarms(told) == {"slurm_preempted"}


def test_a_cancellation_after_an_error_of_the_run_is_only_its_effect() -> None:
    told = tell(
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 40, in <module>',
        "    x = d['a']",
        "KeyError: 'a'",
        f"{SLURM} ***",
        "srun: error: n7: task 0: Exited with exit code 1",
    )
    assert alarms(told) == set()


def test_a_cancellation_of_a_job_without_memory_is_only_its_effect() -> None:
    told = tell(f"{SLURM} ***", "slurmstepd: error: Detected 1 oom_kill event in StepId=42.batch.")
    assert "slurm_cancelled" not in alarms(told)


def test_a_run_that_was_resumed_after_preemption_is_healthy() -> None:
    more = [f"step {step} | loss 0.5 | lr 1e-4" for step in range(38, 60)]
    told = tell(f"{SLURM} DUE TO PREEMPTION ***", "Resuming from checkpoint out/ckpt-37", *more)
    assert alarms(told) == set()
    assert severity(told, "slurm_preempted") is Severity.INFO


def test_a_signal_after_the_end_is_no_finding() -> None:
    told = tell("Training completed", "[rank: 0] Received SIGTERM: 15")
    assert severity(told, "slurm_cancelled") is None


def test_an_unknown_sender_is_asked_for() -> None:
    told = tell("[rank: 0] Received SIGTERM: 15")
    assert told.status == "needs_more_data"
    assert any("sacct" in request for request in told.requests)
    assert {"cancelled_by_person", "time_limit", "preemption"} <= {c.id for c in told.root_causes}


def test_a_named_person_leaves_no_other_cause() -> None:
    told = tell("State: CANCELLED by 1000")
    assert [c.id for c in told.root_causes] == ["cancelled_by_person"]
    assert told.status == "diagnosis_complete"


def test_a_closed_terminal_is_named() -> None:
    exception = "torch.distributed.elastic.multiprocessing.api.SignalException"
    told = tell(f"{exception}: Process 12 got signal: 1")
    assert "terminal" in finding(told, "slurm_cancelled").title
    assert any("tmux" in fix.example for fix in cause(told, "cancelled_by_person").fixes)


def test_lost_work_is_counted_from_the_last_checkpoint() -> None:
    saved = STEPS.replace("step 31 ", "Saving model checkpoint to out/ckpt-30\nstep 31 ")
    told = tell(f"{SLURM} DUE TO TIME LIMIT ***", steps=saved)
    found = finding(told, "slurm_timeout")
    assert "9 steps since the checkpoint of step 30" in found.title
    assert found.number("lost_steps") == 9
    assert any("step 30" in fix.change for fix in cause(told, "time_limit").fixes)


def test_the_node_that_failed_is_left_out() -> None:
    told = tell("srun: error: Node failure on n7")
    assert cause(told, "node_failure").fixes[0].example == "sbatch --exclude=n7 job.sh"

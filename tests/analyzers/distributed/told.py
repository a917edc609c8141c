"""What a log is diagnosed as, for tests of this family."""

from __future__ import annotations

from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import Diagnosis, diagnose
from tests.analyzers.made import read_log

OURS = frozenset(
    {
        "nccl_timeout",
        "rank_failure",
        "slurm_timeout",
        "time_limit_ahead",
        "job_failed",
        "slurm_preempted",
        "slurm_node_fail",
        "slurm_cancelled",
        "unsynced_wandb",
        "orchestration_error",
    }
)
STEPS = "".join(f"step {step} | loss {3 / (1 + step / 9):.4f} | lr 1e-4\n" for step in range(1, 40))
"""A training that learns, up to step 39."""


def tell(*lines: str, steps: str = STEPS) -> Diagnosis:
    """The diagnosis of a training that went well until it said this."""
    told = diagnose(read_log(steps + "\n".join(lines) + "\n"))
    assert told.problems == ()
    return told


def alarms(told: Diagnosis) -> set[str]:
    """Ids of this family's findings that somebody should look at."""
    return {finding.id for finding in told.findings if finding.id in OURS and finding.is_alarm}


def finding(told: Diagnosis, identity: str) -> Finding:
    """The only finding with an id."""
    (found,) = [one for one in told.findings if one.id == identity]
    return found


def severity(told: Diagnosis, identity: str) -> Severity | None:
    """How much it matters, None if it was not found."""
    return next((one.severity for one in told.findings if one.id == identity), None)


def cause(told: Diagnosis, identity: str) -> RootCause:
    """The cause with an id."""
    (found,) = [one for one in told.root_causes if one.id == identity]
    return found

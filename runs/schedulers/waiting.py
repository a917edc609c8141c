"""Jobs that wait for what will never come."""

from __future__ import annotations

import re

from .job import Job, JobState

_NEVER = frozenset(
    {
        "DependencyNeverSatisfied", "BadConstraints", "PartitionTimeLimit", "PartitionNodeLimit",
        "PartitionConfig", "AccountNotAllowed", "QOSNotAllowed", "InvalidAccount", "InvalidQOS",
        "ReservationDeleted", "MaxMemPerLimit", "JobHoldMaxRequeue", "MinCpuNotSatisfied",
    }
)  # fmt: skip
_TOO_MUCH_FOR_ONE = re.compile(r"(?:QOS|Assoc)?(?:Max|Min)\w*?(?:Per(?:Job|Node)|Wall)\w*")
"""Limits on a single job: other jobs may end as they like, this one stays too large."""
_HELD = (JobState.REQUEUE_HOLD, JobState.SPECIAL_EXIT, JobState.RESV_DEL_HOLD)
"""States that only a person can end."""


def never_starts(job: Job) -> bool:
    """True if a job waits and will wait until somebody changes it."""
    if not job.is_waiting:
        return False
    code = (job.reason or "").strip("()").partition(",")[0].strip()
    return job.state in _HELD or code in _NEVER or bool(_TOO_MUCH_FOR_ONE.fullmatch(code))

"""Slurm's reasons in words: why a job waits, and what it means when one has failed."""

from __future__ import annotations

import re

from ..quoting import printable

NO_OUTPUT = 53
"""Slurm's own signal for a file that cannot be opened."""
_WORDS = {
    "Resources": "it is next and waits for nodes to become free",
    "Priority": "jobs with a higher priority come first",
    "Dependency": "it waits for another job",
    "DependencyNeverSatisfied": "the job that it waits for ended in a way that it does not accept: "
    "it will never start",
    "JobHeldUser": "it is held by its user, until `scontrol release`",
    "JobHeldAdmin": "it is held by an administrator",
    "JobHoldMaxRequeue": "it was requeued too often and is held now",
    "BeginTime": "its begin time is not reached, as after a requeue",
    "JobArrayTaskLimit": "as many tasks of the array run as its % allows",
    "Licenses": "it waits for a licence",
    "Reservation": "it waits for its reservation",
    "ReservationDeleted": "its reservation is gone",
    "ReqNodeNotAvail": "a node that it asks for is down, drained or reserved, as for maintenance",
    "PartitionDown": "its partition is down",
    "PartitionInactive": "its partition takes no jobs now",
    "PartitionNodeLimit": "it asks for more nodes than its partition allows",
    "PartitionTimeLimit": "it asks for more time than its partition allows",
    "PartitionConfig": "it asks for what its partition does not allow",
    "AccountNotAllowed": "its account may not use this partition",
    "QOSNotAllowed": "its quality of service may not be used here",
    "InvalidAccount": "its account is not valid",
    "InvalidQOS": "its quality of service is not valid",
    "BadConstraints": "no node can ever give what it asks for",
    "Constraints": "no node has the features that it asks for now",
    "NodeDown": "a node that it needs is down",
    "Cleaning": "its earlier attempt is still being cleaned up",
    "Prolog": "the nodes are being prepared for it",
    "TimeLimit": "it reached its time limit",
    "DeadLine": "it could not end before its deadline",
    "OutOfMemory": "it used more memory than it had asked for",
    "NonZeroExitCode": "its script ended with an error",
    "RaisedSignal": "a signal ended it",
    "SystemFailure": "Slurm, the file system or the network failed",
    "InactiveLimit": "it was idle for too long",
    "MaxMemPerLimit": "it asks for more memory than is allowed",
}
_LIMIT = re.compile(
    r"(QOS|Assoc)?(Grp|Max|Min)?(CPU|Cpu|Mem(?:ory)?|Node|GRES|Jobs?|Submit|Wall|BB|Billing|Energy|"
    r"License)?\w*"
)
_OWNERS = {"QOS": "of its quality of service", "Assoc": "of its account", None: "of its account"}
_THINGS = {
    "CPU": "CPUs", "Cpu": "CPUs", "Mem": "memory", "Memory": "memory", "Node": "nodes",
    "GRES": "GPUs or other devices", "Job": "jobs", "Jobs": "jobs", "Submit": "submitted jobs",
    "Wall": "time", "BB": "burst buffer", "Billing": "billing", "Energy": "energy",
    "License": "licences",
}  # fmt: skip


def in_words(reason: str | None, signal: int | None = None) -> str | None:
    """A sentence without its full stop; None for a reason that says nothing or is not known."""
    if not reason:
        return None
    code, _, rest = reason.strip("()").partition(",")
    if code == "JobLaunchFailure":
        return _launch_in_words(signal)
    known = _WORDS.get(code.strip())
    if known is not None:
        detail = rest.replace("_", " ").strip()
        return f"{known} ({detail})" if detail else known
    if " " in reason or "_" in reason:
        return printable(reason.replace("_", " "))  # it is in words already
    return _limit_in_words(code.strip())


def _launch_in_words(signal: int | None) -> str:
    """Slurm says so of every script that a signal ended, its own signal 53 included."""
    if signal == NO_OUTPUT:
        return "its output file or its work directory cannot be opened on the node"
    return _WORDS["RaisedSignal"] if signal else "it could not be started"


def _limit_in_words(code: str) -> str | None:
    found = _LIMIT.fullmatch(code)
    if found is None or not (found[1] or code.startswith("Max")) or not found[2]:
        return None
    thing = _THINGS.get(found[3] or "", "resources")
    if found[2] == "Min":
        return f"it asks for less {thing} than the least {_OWNERS[found[1]]}"
    return f"the limit on {thing} {_OWNERS[found[1]]} is reached"

"""`scontrol show job` as text, one line for a job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from . import values
from .record import Record, absolute, memory_of

_KEYS = (
    "JobId ArrayJobId ArrayTaskId ArrayTaskThrottle HetJobId HetJobOffset HetJobIdSet JobName "
    "UserId GroupId MCS_label Priority Nice Account QOS WCKey JobState Reason FailedNode "
    "Dependency Requeue Restarts BatchFlag Reboot ExitCode DerivedExitCode RunTime TimeLimit "
    "TimeMin SubmitTime EligibleTime AccrueTime ResizeTime StartTime EndTime Deadline PreemptTime "
    "PreemptEligibleTime SuspendTime SecsPreSuspend LastSchedEval Scheduler Partition "
    "AllocNode:Sid ReqNodeList ExcNodeList NodeList BatchHost SchedNodeList NumNodes NumCPUs "
    "NumTasks CPUs/Task ReqB:S:C:T TRES ReqTRES AllocTRES Socks/Node NtasksPerN:B:S:C CoreSpec "
    "MinCPUsNode MinMemoryNode MinMemoryCPU MinTmpDiskNode Features Reservation DelayBoot "
    "OverSubscribe Contiguous Licenses LicensesAlloc Network Command SubmitLine WorkDir Comment "
    "AdminComment SystemComment StdErr StdIn StdOut Power TresPerNode TresPerJob TresPerTask "
    "TresPerSocket TresBind CpusPerTres MemPerTres MailUser MailType"
)
_KEY = re.compile(rf"(?:^| )({'|'.join(map(re.escape, _KEYS.split()))})=")
_LINE = re.compile(r"^JobId=(?=[0-9]+ )", re.MULTILINE)
_WITH_SPACES = frozenset({"JobName", "Command", "WorkDir", "StdOut", "StdErr"})


def arguments(job_id: str) -> list[str]:
    """Ask for one job, or for all tasks of an array."""
    return ["scontrol", "--oneliner", "show", "job", job_id]


def parse_text(text: str) -> list[Record]:
    """The jobs in an answer; what is not one is passed over."""
    records = (_record(_fields(line)) for line in _lines(text))
    return [record for record in records if record is not None]


def _lines(text: str) -> Iterator[str]:
    """A job's name may hold line breaks, so a job ends where the next begins."""
    starts = [found.start() for found in _LINE.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        yield text[start:end]


def _fields(line: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for this, following in pairwise([*_KEY.finditer(line), None]):
        assert this is not None
        value = line[this.end() : following.start() if following else len(line)]
        if this[1] not in _WITH_SPACES:
            value = value.strip().partition(" ")[0]  # a key of a later version may follow
        fields.setdefault(this[1], value)
    return fields


def _record(row: dict[str, str]) -> Record | None:
    raw_id = values.number(row.get("JobId"))
    if raw_id is None:
        return None
    array = values.number(row.get("ArrayJobId"))
    task = values.number(row.get("ArrayTaskId"))
    code, signal = values.exit_status(row.get("ExitCode"))
    return Record(
        raw_id=raw_id,
        array_id=array,
        array_task=task,
        array_tasks=None if task is not None else values.text(row.get("ArrayTaskId")),
        het_id=values.number(row.get("HetJobId")),
        het_offset=values.number(row.get("HetJobOffset")),
        name=values.job_name(row.get("JobName")),
        user=values.text(row.get("UserId", "").partition("(")[0]),
        states=values.states(row.get("JobState")),
        reason=values.text(row.get("Reason")),
        exit_code=code,
        signal=signal,
        stdout=values.text(row.get("StdOut")),
        stderr=values.text(row.get("StdErr")),
        is_batch=None if "BatchFlag" not in row else row["BatchFlag"] != "0",
        work_dir=absolute(values.text(row.get("WorkDir"))),
        command=values.text(row.get("Command")),
        partition=values.text(row.get("Partition")),
        nodes=values.text(row.get("NodeList")),
        batch_host=values.text(row.get("BatchHost")),
        node_count=values.number(row.get("NumNodes", "").partition("-")[0]),
        time_limit=values.duration(row.get("TimeLimit")),
        elapsed=values.duration(row.get("RunTime")),
        submit=values.moment(row.get("SubmitTime")),
        start=values.moment(row.get("StartTime")),
        end=values.moment(row.get("EndTime")),
        restarts=values.number(row.get("Restarts")),
        memory=memory_of(row.get("AllocTRES") or row.get("ReqTRES") or row.get("TRES")),
        memory_per_node=values.size(row.get("MinMemoryNode"), unit="M")[0] or None,
        memory_per_cpu=values.size(row.get("MinMemoryCPU"), unit="M")[0] or None,
    )

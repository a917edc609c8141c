"""`squeue` as text, for versions whose JSON is missing or ignores whose jobs are asked for."""

from __future__ import annotations

import re

from . import values
from .paths import DEFAULT
from .record import Record, absolute, memory_of

_FIELDS = {
    "JobID": 16, "ArrayJobID": 16, "ArrayTaskID": 512, "HetJobID": 16, "HetJobOffset": 12,
    "Name": 256, "UserName": 64, "State": 32, "Reason": 256, "exit_code": 16, "RestartCnt": 12,
    "STDOUT": 1024, "STDERR": 1024, "WorkDir": 1024, "Command": 512, "BatchFlag": 4,
    "BatchHost": 128, "Partition": 128, "NodeList": 1024, "NumNodes": 16, "TimeLimit": 32,
    "TimeUsed": 32, "StartTime": 32, "EndTime": 32, "SubmitTime": 32, "tres-alloc": 256,
}  # fmt: skip
"""Names for --Format, and how many bytes of each: squeue cuts off what is longer."""


def text_arguments(user: int, separator: str) -> list[str]:
    """Ask for all of a user's jobs, also those that ended a few minutes ago."""
    fields = ",".join(f"{name}:{width}{separator}" for name, width in _FIELDS.items())
    return ["squeue", "--noheader", f"--user={user}", "--states=all", f"--Format={fields}"]


def json_arguments(user: int) -> list[str]:
    """The same as JSON."""
    return ["squeue", "--json", f"--user={user}", "--states=all"]


def without_padding(text: str, separator: str) -> str:
    """The answer without the blanks that fill every value up to its width."""
    return re.sub(rf" +(?={re.escape(separator)})", "", text)


def parse_text(text: str, separator: str) -> list[Record]:
    """The jobs in an answer to `text_arguments`; what is not one is passed over."""
    pieces = text.split(separator)[:-1]
    count = len(_FIELDS)
    records = []
    for start in range(0, len(pieces) - count + 1, count):
        record = _record(dict(zip(_FIELDS, pieces[start : start + count], strict=True)))
        if record is not None:
            records.append(record)
    return records


def _record(row: dict[str, str]) -> Record | None:
    # Before the first field stands the end of the line before, or a headline of the cluster.
    raw_id = values.number(row["JobID"].rpartition("\n")[2])
    if raw_id is None:
        return None
    task = values.number(row["ArrayTaskID"])
    tasks = None if task is not None else values.text(row["ArrayTaskID"])
    array = values.number(row["ArrayJobID"]) if task is not None or tasks else None
    work_dir = absolute(values.text(_whole(row, "WorkDir")))
    code, signal = values.wait_status(values.number(row["exit_code"]))
    default = f"{work_dir}/{DEFAULT.replace('%j', str(raw_id))}"
    stdout = values.text(_whole(row, "STDOUT"))
    stderr = values.text(_whole(row, "STDERR"))
    # The default of an array is printed wrongly; a user's own pattern would still have its %.
    is_default = array is not None and stdout == default
    offset = values.number(row["HetJobOffset"])
    return Record(
        raw_id=raw_id,
        array_id=array,
        array_task=task,
        array_tasks=tasks,
        het_id=values.number(row["HetJobID"]) or None,
        het_offset=offset,
        name=values.job_name(row["Name"]),
        user=values.text(row["UserName"]),
        states=values.states(row["State"].strip()),
        reason=values.text(row["Reason"]),
        exit_code=code,
        signal=signal,
        stdout=None if is_default else stdout,
        stderr=None if is_default and stderr == default else stderr,
        is_batch=row["BatchFlag"].strip() != "0",
        has_default_output=is_default,
        work_dir=work_dir,
        command=values.text(_whole(row, "Command")),
        partition=values.text(row["Partition"]),
        nodes=values.text(_whole(row, "NodeList")),
        batch_host=values.text(row["BatchHost"]),
        node_count=values.number(row["NumNodes"].partition("-")[0]),
        time_limit=values.duration(row["TimeLimit"]),
        elapsed=values.duration(row["TimeUsed"]),
        submit=values.moment(row["SubmitTime"]),
        start=values.moment(row["StartTime"]),
        end=values.moment(row["EndTime"]),
        restarts=values.number(row["RestartCnt"]),
        memory=memory_of(row["tres-alloc"]),
    )


def _whole(row: dict[str, str], name: str) -> str | None:
    """A value that fills its whole width has probably lost its end."""
    value = row[name]
    is_cut = len(value.rstrip(" ").encode(errors="surrogateescape")) >= _FIELDS[name]
    return None if is_cut else value

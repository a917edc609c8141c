"""`sacct`: jobs that ended long ago, and how much memory their steps used."""

from __future__ import annotations

import re

from . import values
from .record import Record, absolute, memory_of

_FIELDS = (
    "JobID", "JobIDRaw", "JobName", "User", "State", "ExitCode", "Submit", "Start", "End",
    "ElapsedRaw", "TimelimitRaw", "NNodes", "NodeList", "Partition", "ReqMem", "ReqTRES",
    "AllocTRES", "MaxRSS", "MaxRSSNode", "Reason", "WorkDir",
)  # fmt: skip
_OUTPUT_FIELDS = ("StdOut", "StdErr")
"""Since 24.05."""
OUTPUT_SINCE = (24, 5)
_ID = re.compile(r"([0-9]{1,10})(?:_([0-9]{1,9})|_\[([^\]]*)\]|\+([0-9]{1,6}))?")


def fields(version: tuple[int, int] | None) -> tuple[str, ...]:
    """What may be asked for: sacct refuses a request that has a field it does not know."""
    return (*_FIELDS, *(_OUTPUT_FIELDS if version and version >= OUTPUT_SINCE else ()))


def arguments(
    user: int, separator: str, names: tuple[str, ...], *, job_id: str | None = None, days: int = 1
) -> list[str]:
    """Ask for one of a user's jobs, or for all of the last days."""
    chosen = f"--jobs={job_id}" if job_id is not None else f"--starttime=now-{days}days"
    return [
        "sacct", "--noheader", "--parsable", f"--delimiter={separator}", f"--user={user}",
        f"--format={','.join(names)}", chosen,
    ]  # fmt: skip


def parse_text(text: str, separator: str, names: tuple[str, ...]) -> list[Record]:
    """The jobs in an answer, each with the largest memory of its steps."""
    pieces = text.split(separator)[:-1]
    found: dict[str, Record] = {}
    for start in range(0, len(pieces) - len(names) + 1, len(names)):
        row = dict(zip(names, pieces[start : start + len(names)], strict=True))
        full_id = row["JobID"].rpartition("\n")[2].strip()
        job_id, dot, _ = full_id.partition(".")
        if not dot:
            record = _record(job_id, row)
            if record is not None:
                found[job_id] = record
        if job_id in found:
            _take_memory(found[job_id], row)
    return list(found.values())


def _record(job_id: str, row: dict[str, str]) -> Record | None:
    ids = _ID.fullmatch(job_id)
    raw_id = values.number(row["JobIDRaw"].strip())
    if ids is None:
        return None
    number = int(ids[1])
    is_array = ids[2] is not None or ids[3] is not None
    code, signal = values.exit_status(row["ExitCode"])
    total, per = values.size(row["ReqMem"])
    asked = total or None
    return Record(
        raw_id=raw_id if raw_id is not None else number,
        array_id=number if is_array else None,
        array_task=None if ids[2] is None else int(ids[2]),
        array_tasks=ids[3],
        het_id=number if ids[4] is not None else None,
        het_offset=None if ids[4] is None else int(ids[4]),
        name=values.job_name(row["JobName"]),
        user=values.text(row["User"]),
        states=values.states(row["State"]),
        reason=values.text(row["Reason"]),
        exit_code=code,
        signal=signal,
        stdout=values.text(row.get("StdOut")),
        stderr=values.text(row.get("StdErr")),
        work_dir=absolute(values.text(row["WorkDir"])),
        partition=values.text(row["Partition"]),
        nodes=values.text(row["NodeList"]),
        node_count=values.number(row["NNodes"]),
        time_limit=values.duration(row["TimelimitRaw"]),
        elapsed=values.duration(row["ElapsedRaw"], unit=1),
        submit=values.moment(row["Submit"]),
        start=values.moment(row["Start"]),
        end=values.moment(row["End"]),
        memory=memory_of(row["AllocTRES"]) or memory_of(row["ReqTRES"]) or (None if per else asked),
        memory_per_node=asked if per == "n" else None,
        memory_per_cpu=asked if per == "c" else None,
    )


def _take_memory(record: Record, row: dict[str, str]) -> None:
    used, _ = values.size(row["MaxRSS"])
    if used and used > (record.max_rss or 0):
        record.max_rss = used
        record.max_rss_node = values.text(row["MaxRSSNode"])

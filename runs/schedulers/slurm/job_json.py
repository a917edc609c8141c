"""The JSON of `squeue` and `scontrol show job`, of all versions of its schema."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ...errors import FormatError
from ..job import JobState
from . import values
from .record import Record, absolute, memory_of

_MEGABYTE = 2**20


def parse_json(text: str) -> list[Record]:
    """The jobs in an answer; FormatError if it is no answer at all."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"Slurm's JSON cannot be read: {problem}") from None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list):
        raise FormatError("Slurm's JSON has no list of jobs")
    records = (_record(job) for job in jobs if isinstance(job, dict))
    return [record for record in records if record is not None]


def _record(job: Mapping[str, Any]) -> Record | None:
    raw_id = _count(job.get("job_id"))
    if not raw_id:
        return None
    array = _count(job.get("array_job_id")) or None
    task = _count(job.get("array_task_id")) if array else None
    tasks = _text(job.get("array_task_string")) if array and task is None else None
    het = _count(job.get("het_job_id")) or None
    code, signal = _exit(job.get("exit_code"))
    states = _states(job.get("job_state"))
    stdout = _text(job.get("stdout_expanded")) or _text(job.get("standard_output"))
    stderr = _text(job.get("stderr_expanded")) or _text(job.get("standard_error"))
    limit = _number(job.get("time_limit"))
    allocated, wanted = _text(job.get("tres_alloc_str")), _text(job.get("tres_req_str"))
    batch = job.get("batch_flag")
    return Record(
        raw_id=raw_id,
        array_id=array if task is not None or tasks else None,
        array_task=task,
        array_tasks=tasks,
        het_id=het,
        het_offset=_count(job.get("het_job_offset")) if het else None,
        name=_name(job.get("name")),
        user=_text(job.get("user_name")),
        states=states,
        reason=_text(job.get("state_reason")),
        exit_code=code,
        signal=signal,
        stdout=stdout,
        stderr=stderr,
        is_batch=batch if isinstance(batch, bool) else None,
        has_default_output=batch is True and stdout is None,
        work_dir=absolute(_text(job.get("current_working_directory"))),
        command=_text(job.get("command")),
        partition=_text(job.get("partition")),
        nodes=_text(job.get("nodes")),
        batch_host=_text(job.get("batch_host")),
        node_count=_count(job.get("node_count")),
        time_limit=None if limit is None else limit * 60.0,
        elapsed=_elapsed(job, states[0]),
        submit=_moment(job.get("submit_time")),
        start=_moment(job.get("start_time")),
        end=_moment(job.get("end_time")),
        restarts=_count(job.get("restart_cnt")),
        memory=memory_of(allocated) or memory_of(wanted),
        memory_per_node=_megabytes(job.get("memory_per_node")),
        memory_per_cpu=_megabytes(job.get("memory_per_cpu")),
    )


def _number(value: object) -> float | None:
    """Of `3`, of `{"set": true, "infinite": false, "number": 3}`, of null."""
    if isinstance(value, Mapping):
        if value.get("infinite") is True:
            return math.inf
        if value.get("set") is False:
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    if value in values.NO_LIMIT:
        return math.inf
    return None if value in values.NO_NUMBER or value < 0 else float(value)


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None or math.isinf(number) else int(number)


def _moment(value: object) -> float | None:
    number = _number(value)
    return None if not number or math.isinf(number) else number


def _megabytes(value: object) -> int | None:
    number = _count(value)
    return number * _MEGABYTE if number else None


def _text(value: object) -> str | None:
    return values.text(value) if isinstance(value, str) else None


def _name(value: object) -> str | None:
    return values.job_name(value) if isinstance(value, str) else None


def _states(value: object) -> tuple[JobState, tuple[str, ...], str | None]:
    if isinstance(value, list):
        return values.states([word for word in value if isinstance(word, str)])
    return values.states(value if isinstance(value, str) else None)


def _exit(value: object) -> tuple[int | None, int | None]:
    """Of what wait() gave, or of `{"return_code": ..., "signal": {"id": ...}}`."""
    if not isinstance(value, Mapping) or "return_code" not in value:
        return values.wait_status(_count(value))
    signal = value.get("signal")
    number = signal.get("id", signal.get("signal_id")) if isinstance(signal, Mapping) else signal
    return _count(value.get("return_code")), _count(number) or None


def _elapsed(job: Mapping[str, Any], state: JobState) -> float | None:
    """Only needed where a suspension makes it differ from end minus start."""
    resumed, before = _moment(job.get("suspend_time")), _number(job.get("pre_sus_time"))
    if resumed is None or before is None:
        return None
    if state is JobState.SUSPENDED:
        return before
    end = _moment(job.get("end_time"))
    return max(0.0, before + end - resumed) if state.is_over and end is not None else None

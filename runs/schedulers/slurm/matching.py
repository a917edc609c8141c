"""Which jobs an id stands for, and what two sources say about the same job, put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

from ..job import Job, JobState
from ..names import JobId
from .hostlist import holds_task

_SAME_SUBMIT = 2.0
"""Seconds by which two sources may differ about when a job was submitted."""


def matching(jobs: Iterable[Job], wanted: JobId) -> list[Job]:
    """The jobs, tasks or parts that an id stands for."""
    jobs = list(jobs)
    if wanted.task is not None:
        return _task(jobs, wanted.number, wanted.task)
    if wanted.offset is not None:
        return [
            job for job in jobs if (job.het_id, job.het_offset) == (wanted.number, wanted.offset)
        ]
    whole = [job for job in jobs if wanted.number in (job.array_id, job.het_id)]
    return whole or [job for job in jobs if job.raw_id == wanted.number]


def _task(jobs: list[Job], number: int, task: int) -> list[Job]:
    own = [job for job in jobs if job.array_id == number]
    exact = [job for job in own if job.array_task == task]
    if exact:
        return exact
    return [
        replace(job, id=f"{number}_{task}", raw_id=None, array_task=task, array_tasks=None)
        for job in own
        if holds_task(job.array_tasks, task)
    ]


def complete(job: Job, others: Iterable[Job]) -> Job:
    """The job, with what it does not know taken from another record of it."""
    for other in others:
        if other.id == job.id and _is_same(job, other):
            return _filled(job, other)
    return job


def _is_same(job: Job, other: Job) -> bool:
    """Numbers are used again after some years, and a requeued job is submitted again."""
    if job.submit is None or other.submit is None:
        return True
    return abs(job.submit - other.submit) <= _SAME_SUBMIT


def _filled(job: Job, other: Job) -> Job:
    missing = {
        field.name: getattr(other, field.name)
        for field in fields(Job)
        if getattr(job, field.name) is None and getattr(other, field.name) is not None
    }
    if job.state is JobState.UNKNOWN and other.state is not JobState.UNKNOWN:
        missing |= {"state": other.state, "state_flags": other.state_flags}
    if job.state is not other.state:
        # Facts about the end belong to the record that has seen it.
        for name in ("end", "exit_code", "signal", "cancelled_by"):
            missing.pop(name, None)
    return replace(job, **missing)

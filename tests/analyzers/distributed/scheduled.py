"""Runs whose job a scheduler knows, for tests."""

from __future__ import annotations

from typing import Any

from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.run import Run
from mltd.runs.schedulers.job import Job, JobState
from tests.analyzers.distributed.told import STEPS
from tests.analyzers.made import read_log

GIB = 2**30
SLURM = "slurmstepd: error: *** JOB 48213 ON gpu03 CANCELLED AT 2024-05-01T10:00:00"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/w/train.py", line 40, in <module>\n'
    "    x = d['a']\nKeyError: 'a'"
)


def job(state: str, **more: Any) -> Job:
    """Job 48213 of anna, on one node."""
    known: dict[str, Any] = {
        "name": "train", "user": "anna", "nodes": "gpu03", "node_names": ("gpu03",),
        "node_count": 1, "time_limit": 3600.0, "elapsed": 1800.0, "start": 1.7e9,
        "memory_per_node": 64 * GIB,
    }  # fmt: skip
    return Job(id="48213", state=JobState(state), **{**known, **more})


def logged(found: Job, *lines: str, steps: str = STEPS) -> Run:
    """A training of a job that went well until it said this."""
    run = read_log(steps + "".join(f"{line}\n" for line in lines))
    run.job = found
    return run


def ask(found: Job, *lines: str, steps: str = STEPS) -> Diagnosis:
    """What is said about such a run."""
    told = diagnose(logged(found, *lines, steps=steps))
    assert told.problems == ()
    return told

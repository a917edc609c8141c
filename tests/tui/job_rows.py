"""Rows of jobs in every state, for pictures and pickers."""

from __future__ import annotations

import math
from typing import Any

from mltd.tui.engine.job_row import JobRow
from mltd.tui.engine.protocol import Health, RunRow
from tests.tui.app_scene import NOW

HOUR = 3600.0
FALLING = tuple(3 * 0.9**step for step in range(24))
BROKEN = (*FALLING[:18], *[math.nan] * 6)


def make_job(job_id: str, name: str, state: str, phase: str, **facts: Any) -> JobRow:
    """A job that the scheduler was asked about twelve seconds ago."""
    usual: dict[str, Any] = {"limit": 4 * HOUR, "asked_at": NOW - 12}
    usual["is_ticking"] = phase == "running"
    return JobRow(job_id, name, state, phase, **{**usual, **facts})


def make_row(number: int, name: str, path: str, **facts: Any) -> RunRow:
    """A run; one with a job is here because of that."""
    job = facts.get("job")
    usual = {"logs": (f"{path}/train.log",), "is_extra": job is not None}
    return RunRow(number, name, path, **{**usual, **facts})


RUNNING = make_job("48213", "resnet50-imagenet-lr3e-4", "RUNNING", "running",
                   elapsed=HOUR + 120, nodes="gpu03")  # fmt: skip
SHORT = make_job("48214", "gpt2-wide", "RUNNING", "running", elapsed=3.75 * HOUR,
                 nodes="gpu[04-07]", restarts=1)  # fmt: skip
TASK = make_job("48215_7", "sweep", "RUNNING", "running", elapsed=26 * HOUR, limit=168 * HOUR,
                nodes="gpu11")  # fmt: skip
PENDING = make_job("48220", "eval", "PENDING", "waiting", elapsed=0.0, reason="Resources",
                   reason_words="it is next and waits for nodes to become free",
                   starts_at=NOW + 1500)  # fmt: skip
TASKS = make_job("48215_[8-40%4]", "sweep", "PENDING", "waiting", elapsed=0.0,
                 reason="JobArrayTaskLimit",
                 reason_words="as many tasks of the array run as its % allows")  # fmt: skip
TIMEOUT = make_job("48201", "bert", "TIMEOUT", "over", elapsed=4 * HOUR, nodes="gpu01",
                   ended_at=NOW - 7200, ending="SIGTERM", reason="TimeLimit",
                   reason_words="it reached its time limit")  # fmt: skip
DONE = make_job("48199", "vit", "COMPLETED", "over", elapsed=2.1 * HOUR, ended_at=NOW - 9200)
CANCELLED = make_job("48197", "old", "CANCELLED", "over", elapsed=300.0, ended_at=NOW - 19900,
                     ending="by ada")  # fmt: skip

JOBS = (
    make_row(0, "48213 resnet50-imagenet-lr3e-4", "/scratch/ada/resnet", state="running",
             job=RUNNING, step=12_400, total_steps=50_000, last_loss=1.234, trend=FALLING,
             health=Health.FINE, modified=NOW - 3),
    make_row(1, "48214 gpt2-wide", "/scratch/ada/gpt2", state="running", job=SHORT, step=9000,
             total_steps=10_000, last_loss=math.nan, trend=BROKEN, health=Health.CRITICAL,
             headline="loss is NaN from step 8,400 on", modified=NOW - 3),
    make_row(2, "48215_7 sweep", "/scratch/ada/sweep", state="stalled", job=TASK, step=900,
             last_loss=0.31, trend=FALLING, health=Health.WARNING,
             headline="nothing was logged for 40 min", modified=NOW - 2400),
    make_row(3, "48220 eval", "/scratch/ada/eval", state="unknown", job=PENDING,
             headline="no metrics found"),
    make_row(4, "48215_[8-40%4] sweep", "/scratch/ada/sweep", state="unknown", job=TASKS, logs=()),
    make_row(5, "48201 bert", "/scratch/ada/bert", state="stalled", job=TIMEOUT, step=70_000,
             total_steps=100_000, last_loss=0.9, trend=FALLING, health=Health.CRITICAL,
             headline="the job ran into its time limit at step 70,000 of 100,000",
             modified=NOW - 7200),
    make_row(6, "48199 vit", "/scratch/ada/vit", state="finished", job=DONE, step=100,
             total_steps=100, last_loss=0.9, trend=FALLING, health=Health.FINE,
             modified=NOW - 9200),
    make_row(7, "48197 old", "/scratch/ada/old", state="unknown", job=CANCELLED,
             modified=NOW - 19900),
)  # fmt: skip
RUNS = (
    make_row(8, "baseline.log", "/home/ada/runs", state="finished", step=50_000,
             total_steps=50_000, last_loss=0.41, trend=FALLING, health=Health.FINE,
             modified=NOW - 86_400),
    make_row(9, "lr-3e-3.log", "/home/ada/runs", state="failed", step=300, total_steps=50_000,
             last_loss=math.nan, trend=BROKEN, health=Health.CRITICAL,
             headline="loss is NaN from step 260 on", modified=NOW - 186_400),
)  # fmt: skip
ROWS = (*JOBS, *RUNS)

"""Healthy fine-tuning, and healthy training by reward."""

from __future__ import annotations

from collections.abc import Iterator

from .healthy import NORM, RATE, healthy
from .jobs import job
from .planned import Planned


def plan() -> Iterator[Planned]:
    """All healthy runs that are tuned."""
    one = job("sft", lr=5e-5, every=5, eval_every=60, data="library")
    yield healthy("flat_from_the_start", "hf", one, NORM)
    one = job("sft", lr=1e-4, every=5, data="library", rank=4)
    yield healthy("flat_from_the_start", "torchtune", one, ("grad_norm", "mem"))
    one = job("sft", steps=250, lr=2e-4, every=5, schedule="linear", data="library", rank=8)
    yield healthy("flat_from_the_start", "trl", one, NORM, True)
    one = job("sft", lr=1e-4, eval_every=50, schedule="cosine", data="library")
    yield healthy("keeps_the_old", "loguru", one, RATE)
    one = job("sft", warmup=20, schedule="cosine")
    yield healthy("gains_fast", "nanogpt", one, RATE)
    one = job("sft", steps=100, every=1, lr=2e-4, schedule="linear", data="library", rank=4)
    yield healthy("short_run", "hf", one, NORM)
    yield healthy("on_a_leash", "trl", job("rlhf", lr=1e-4, leash=0.1), NORM)
    yield healthy("on_a_leash", "loguru", job("rlhf", steps=80, lr=5e-5), RATE)
    yield from worlds()


def worlds() -> Iterator[Planned]:
    """Rewards that rise."""
    trap = "rising_reward"
    yield healthy(trap, "sb3", job("a2c"), ())
    one = job("a2c", lr=1e-3, schedule="linear", world="pole", entropy_bonus=0.02)
    yield healthy(trap, "sb3", one, ("grad_norm",), True)
    yield healthy(trap, "jsonl", job("a2c", steps=400, lr=1e-3), ())
    yield healthy(trap, "sb3", job("dqn"), ())
    yield healthy(trap, "csv", job("dqn", world="pole"), ())
    yield healthy(trap, "sb3", job("dqn", steps=3000, lr=5e-4, exploring=0.25), (), True)
    yield healthy(trap, "loguru", job("dqn", steps=2200), ())
    yield healthy("still_running", "sb3", job("a2c", steps=1000, stop_at=450), ())

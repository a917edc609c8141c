"""Slow, hanging and leaking jobs; what they log of it is visible by construction."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Leak, Slow, Slower, Straggler
from .jobs import job
from .planned import Kind, Planned, at_hook

STRAGGLER = Kind(
    "slow_rank",
    ("straggler",),
    ("hardware_fault",),
    also=("throughput_drop",),
    onset=at_hook,
    is_gated=False,
)
HANG = Kind(
    "job_hangs",
    ("stall",),
    ("deadlock", "communication_failure", "hardware_fault", "dataloader_bottleneck"),
    is_gated=False,
)
SLOWER = Kind(
    "gradual_slowdown",
    ("throughput_drop",),
    ("memory_leak", "dataloader_bottleneck", "code_bug", "fragmentation"),
    also=("memory_growth", "slow_convergence"),
    is_gated=False,
)
SLOW = Kind(
    "sudden_slowdown",
    ("throughput_drop",),
    ("hardware_fault", "dataloader_bottleneck", "communication_failure"),
    onset=at_hook,
    is_gated=False,
)
LEAK = Kind("growing_memory", ("memory_growth",), ("memory_leak",), is_gated=False)


def plan() -> Iterator[Planned]:
    """All runs with a fault of the machine."""
    signals = ("ranks", "lr")
    one = job("lm", steps=300, every=5, ranks=4, fault=Straggler(0, 1.7, rank=2))
    yield Planned(STRAGGLER, "slurm", one, signals)
    one = job("lm", ranks=8, fault=Straggler(201, 2.2, rank=5))
    yield Planned(STRAGGLER, "slurm", one, signals)
    one = job("moe", every=5, ranks=4, fault=Straggler(121, 1.5, rank=1))
    yield Planned(STRAGGLER, "slurm", one, signals, has_config=True)
    yield from hangs()
    one = job("tagger", steps=1500, every=20, fault=Slower(100, 0.0012))
    yield Planned(SLOWER, "loguru", one, ("step_time", "tps"))
    one = job("lm", steps=500, every=5, fault=Slower(50, 0.004))
    yield Planned(SLOWER, "megatron", one, ("grad_norm",))
    one = job("seq2seq", steps=1000, fault=Slower(100, 0.003))
    yield Planned(SLOWER, "fairseq", one, ())
    one = job("lm", every=5, fault=Slow(241, 2.6))
    yield Planned(SLOW, "torchtitan", one, ("tps",))
    one = job("lm", steps=450, every=5, fault=Slow(200, 3.5))
    yield Planned(SLOW, "nanogpt", one, ("step_time",))
    one = job("lm", steps=500, every=5, fault=Leak(0, 0.02))
    yield Planned(LEAK, "torchtitan", one, ("mem",))
    one = job("sft", steps=400, every=4, fault=Leak(50, 0.03))
    yield Planned(LEAK, "torchtune", one, ("mem", "grad_norm"))
    one = job("lm", every=5, fault=Leak(0, 0.015))
    yield Planned(LEAK, "deepspeed", one, ("mem",))
    one = job("moe", steps=500, every=5, fault=Leak(20, 0.01))
    yield Planned(LEAK, "csv", one, ("mem", "lr"))


def hangs() -> Iterator[Planned]:
    """Logs that have been silent for hours."""
    for style, family, settings, hours in (
        ("torchtitan", "lm", {"steps": 1000, "stop_at": 305, "every": 5}, 4),
        ("megatron", "lm", {"steps": 2000, "stop_at": 260}, 2),
        ("loguru", "tagger", {"steps": 4000, "stop_at": 700, "every": 20, "eval_every": 200}, 3),
    ):
        yield Planned(
            HANG,
            style,
            job(family, **settings),
            has_config=True if style == "megatron" else None,
            silent_seconds=3600.0 * hours,
            is_finished=False,
        )

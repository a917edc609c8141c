"""Memory, speed, silence and a slow rank."""

from __future__ import annotations

import math

import numpy as np
import torch

from ..hooks import Hook
from ..recipe import Recipe
from ..trace import Entry, Trace
from ..training import Training
from .fault import Fault, Injection, midway


class Leak(Hook):
    """Keeps something of every step alive, so the process really grows."""

    def __init__(self, megabytes: float, onset: int = 0) -> None:
        self.megabytes, self.onset = megabytes, onset

    def stepped(self, training: Training) -> None:
        """A list of tensors that nobody clears."""
        if training.step >= self.onset:
            training.hoard.append(torch.ones(int(self.megabytes * 250_000)))


class SlowDown(Hook):
    """Steps take longer from a step on, at once or little by little."""

    def __init__(self, onset: int, factor: float, *, gradual: bool = False) -> None:
        self.onset, self.factor, self.gradual = onset, factor, gradual

    def times(self, training: Training, step: float, data: float) -> tuple[float, float]:
        """The data are not to blame."""
        if training.step < self.onset:
            return step, data
        share = (training.step - self.onset) / (training.recipe.steps - self.onset)
        return step * (1 + (self.factor - 1) * (share if self.gradual else 1.0)), data


class SlowLoader(Hook):
    """Waits for its data most of the time."""

    def __init__(self, onset: int, share: float) -> None:
        self.onset, self.share = onset, share

    def times(self, training: Training, step: float, data: float) -> tuple[float, float]:
        """The wait comes on top of the work."""
        if training.step < self.onset:
            return step, data
        wait = step * self.share / (1 - self.share) * math.exp(training.clock.normal(0, 0.25))
        return step + wait, data + wait


class Silence(Hook):
    """The process hangs."""

    def __init__(self, onset: int) -> None:
        self.onset = onset

    def begin(self, training: Training) -> None:
        """Nothing is logged after this step."""
        training.stops_at = self.onset


def spread_over_ranks(
    trace: Trace, ranks: int, slow: int | None, factor: float, seed: int, onset: int = 0
) -> Trace:
    """Every rank logs its own compute time; the slow one holds up the others."""
    rng = np.random.default_rng([seed, 23])
    entries: list[Entry] = []
    for entry in trace.entries:
        if entry.kind != "train":
            entries.append(entry)
            continue
        base = entry.values["step_time"]
        is_slow = slow is not None and entry.step >= onset
        own = base * np.exp(rng.normal(0, 0.03, ranks)) * 0.8
        if is_slow:
            own[slow] *= factor
        for rank in range(ranks):
            values = dict(entry.values)
            values["loss"] *= float(np.exp(rng.normal(0, 0.01)))
            values["step_time"] = float(own.max()) * 1.1
            values["compute_time"] = float(own[rank])
            seconds = float(own.max()) * 1.1 if rank == 0 else 0.0
            entries.append(Entry("train", entry.step, values, seconds=seconds, rank=rank))
    trace.entries = entries
    return trace


def leaks(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """About a gigabyte over the run."""
    return Injection([Leak(float(rng.uniform(600, 1200)) / recipe.steps)])


def slows_down(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """From one step to the next."""
    onset = midway(recipe, rng, 0.3, 0.7)
    return Injection([SlowDown(onset, float(rng.uniform(1.8, 3.0)))], onset)


def slows_gradually(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Up to three times as long at the end."""
    return Injection([SlowDown(0, float(rng.uniform(2.2, 3.5)), gradual=True)])


def starves(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Two thirds of each step are waiting, from the start."""
    return Injection([SlowLoader(0, float(rng.uniform(0.55, 0.8)))])


def hangs(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Three hours of silence."""
    onset = midway(recipe, rng, 0.3, 0.8)
    return Injection(
        [Silence(onset)], None, is_finished=False, silent_seconds=float(rng.uniform(2.5, 9)) * 3600
    )


def straggles(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """One rank of four is slower than the others."""
    slow, factor, seed = int(rng.integers(1, 4)), float(rng.uniform(1.5, 2.4)), recipe.seed
    return Injection(finish=lambda trace: spread_over_ranks(trace, 4, slow, factor, seed))


TIME = frozenset({"step_time", "throughput"})
FAULTS = (
    Fault(
        "memory_leak",
        leaks,
        ("mlp", "chargpt", "recurrent"),
        ("memory_growth",),
        ("memory_leak",),
        frozenset({"memory"}),
    ),
    Fault(
        "throughput_drop",
        slows_down,
        ("mlp", "cnn", "chargpt", "policy"),
        ("throughput_drop",),
        ("hardware_fault", "dataloader_bottleneck", "communication_failure", "memory_leak"),
        TIME,
    ),
    Fault(
        "gradual_slowdown",
        slows_gradually,
        ("mlp", "cnn", "chargpt"),
        ("throughput_drop", "memory_growth"),
        (
            "memory_leak",
            "hardware_fault",
            "code_bug",
            "fragmentation",
            "dataloader_bottleneck",
            "communication_failure",
        ),
        TIME,
    ),
    Fault(
        "slow_loader",
        starves,
        ("mlp", "cnn", "chargpt"),
        ("dataloader_bound", "throughput_drop"),
        ("dataloader_bottleneck",),
        TIME | {"data_time"},
    ),
    Fault(
        "stall",
        hangs,
        ("mlp", "cnn", "chargpt", "recurrent"),
        ("stall",),
        (
            "deadlock",
            "communication_failure",
            "hardware_fault",
            "dataloader_bottleneck",
            "host_memory_limit",
        ),
        is_gated=False,
    ),
    Fault(
        "straggler",
        straggles,
        ("mlp", "chargpt", "cnn"),
        ("straggler", "throughput_drop"),
        ("hardware_fault", "communication_failure", "dataloader_bottleneck"),
        frozenset({"compute_time", "step_time"}),
        is_gated=False,
    ),
)

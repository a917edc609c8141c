"""No series, however odd, breaks a resource rule or makes it doubt-free."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.analyzers.core.registry import registry
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.harvest import Column, ColumnKey, Floats, Harvest
from mltd.runs.run import Run, SourceFile

NAMES = (
    "rss_mb", "gb_free", "memory (%)", "step_time", "step_time_ms", "elapsed", "data_time",
    "perf/data_time", "samples_per_sec", "step_time_rank0", "step_time_rank1", "tps_rank2", "loss",
)  # fmt: skip
OURS = (
    "cuda_oom", "host_oom", "disk_full", "memory_growth", "throughput_drop", "stall", "straggler",
    "dataloader_bound", "memory_leak", "batch_too_large", "fragmentation", "host_memory_limit",
    "dataloader_bottleneck", "disk_quota", "device_shared",
)  # fmt: skip
ODD = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, -1e308, 5e-324, 1e-300)
ODD_AXIS = (np.nan, np.inf, 0.0, -5.0, 1e15, 3.0)
SEEDS = st.integers(0, 2**32 - 1)


def column(generator: np.random.Generator, count: int, odd: tuple[float, ...]) -> Floats:
    """A level, a rise, a jump, noise or nothing but odd values, with odd points in it."""
    base = generator.choice([0.5, 300.0, -4.0, 0.0, 1e12 if odd is ODD_AXIS else 1e300])
    order = np.arange(count, dtype=np.float64)
    shapes = (0 * order, order, 1.0 * (order > count / 2), generator.exponential(1, count))
    values = base * (1.0 + shapes[generator.integers(len(shapes))])
    if generator.random() < 0.3:
        values = generator.choice(odd, count)
    for _ in range(generator.integers(0, 6) if count else 0):
        values[generator.integers(count)] = generator.choice(odd)
    return np.asarray(values, dtype=np.float64)


def odd_run(seed: int) -> Run:
    """A run with odd resources, and perhaps odd steps and time stamps."""
    generator = np.random.default_rng(seed)
    count = int(generator.choice([0, 1, 2, 5, 13, 25, 60, 150]))
    axes = {"step": np.arange(count, dtype=np.float64)}
    for axis in ("step", "time"):
        if generator.random() < 0.5:
            axes[axis] = column(generator, count, ODD_AXIS)
    rows = np.arange(count, dtype=np.int64)
    names = generator.choice(NAMES, generator.integers(1, 6), replace=False).tolist()
    made = [Column(ColumnKey(name), rows, column(generator, count, ODD), True) for name in names]
    run = Run("odd")
    run.is_over = True
    run.add_file(SourceFile("odd.csv", format="csv"))
    run.append(0, Harvest(line=rows + 1, axes=axes, columns=made, lines=count))
    return run


@settings(max_examples=300, deadline=None)
@given(seed=SEEDS)
def test_odd_numbers_break_nothing(seed: int) -> None:
    view = RunView(odd_run(seed))
    for identity in set(OURS) & set(registry().analyzers):
        for finding in registry().analyzers[identity].examine(view):
            assert finding.title
            assert finding.evidence[0].ref


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_causes_bear_odd_numbers_too(seed: int) -> None:
    problems = diagnose(odd_run(seed)).problems
    assert [problem for problem in problems if any(f"'{own}'" in problem for own in OURS)] == []

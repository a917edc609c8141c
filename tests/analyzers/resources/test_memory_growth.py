"""memory_growth: leaks are seen where they begin; caches, collectors and warm-up are not."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.harvest import Floats
from mltd.tui import recordings
from tests.analyzers.made import make_run, read_log

from .asking import causes, found

COUNT = 400
TIME = np.arange(COUNT) / COUNT
NOISE = np.random.default_rng(3).normal(0, 1, COUNT)


def of(values: Floats, name: str = "rss_mb") -> list[Finding]:
    return found(make_run({name: values.tolist()}), "memory_growth")


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e9])
def test_an_even_rise_is_a_leak_in_any_unit(unit: float) -> None:
    (finding,) = of(unit * (300 + 600 * TIME + NOISE))
    assert finding.severity is Severity.WARNING
    assert finding.first_step == 0


def test_a_leak_that_begins_later_is_dated() -> None:
    (finding,) = of(300 + 600 * np.maximum(0, TIME - 0.5) + 0.5 * NOISE)
    assert finding.first_step == pytest.approx(COUNT / 2, abs=12)


def test_a_staircase_of_epochs_is_a_leak() -> None:
    assert of(300 + 30 * np.floor(TIME * 20))


def test_a_dozen_points_are_enough_for_a_large_rise() -> None:
    assert of(np.linspace(300, 900, 16))
    assert not of(np.linspace(300, 350, 16))


@pytest.mark.parametrize(
    "healthy",
    [
        1000 + NOISE,
        1000 - 700 * np.exp(-30 * TIME) + NOISE,  # caches that fill
        300 + 200 * np.minimum(1, TIME / 0.4),  # an index that is loaded in the background
        300 + 100 * (TIME > 0.4),  # the first evaluation
        300 + 100 * ((np.arange(COUNT) % 50) / 50),  # a collector
        np.maximum.accumulate(300 + 30 * NOISE),  # the longest sequence so far
        300 * (1 + 0.04 * TIME),  # too little to matter
        900 - 600 * TIME,
        np.full(COUNT, np.nan),
        np.zeros(COUNT),
    ],
    ids=["level", "cache", "index", "jump", "collector", "maximum", "little", "falls", "nan", "0"],
)
def test_healthy_memory_is_no_leak(healthy: Floats) -> None:
    assert of(healthy) == []


def test_free_memory_that_falls_says_when_it_is_used_up() -> None:
    (finding,) = of(20 - 15 * TIME, "gb_free")
    assert "fell" in finding.title
    assert finding.number("steps_left") == pytest.approx(COUNT / 3, rel=0.15)


def test_memory_of_the_whole_machine_is_not_ours() -> None:
    assert of(30 + 50 * TIME, "system/memory") == []
    assert of(30 + 50 * TIME, "system/proc.memory.rssMB")


def test_longer_sequences_take_more_memory_by_plan() -> None:
    lengths = 128 * (1 + np.floor(TIME * 5))
    memory = 10 + 5 * np.floor(TIME * 5) + TIME
    run = make_run({"gpu_mem": memory.tolist(), "seq_len": lengths.tolist()})
    assert found(run, "memory_growth") == []


def test_a_leak_outranks_the_limit_that_it_ran_into() -> None:
    lines = [f"step {n} loss 1.5 rss_mb {300 + 4 * n}" for n in range(1, 200)]
    lines.append("MemoryError: Unable to allocate 2.00 GiB for an array with shape (5,)")
    run = read_log("\n".join(lines) + "\n")
    assert causes(run)[0] == "memory_leak"
    best = diagnose(run).root_causes[0]
    assert best.confidence >= 0.8
    assert len(best.fixes) >= 3
    assert set(best.explains) >= {"memory_growth", "host_oom"}


def test_growth_alone_asks_for_snapshots() -> None:
    told = diagnose(make_run({"rss_mb": (300 + 600 * TIME).tolist()}))
    assert told.root_causes[0].id == "memory_leak"
    assert told.status == "needs_more_data"
    assert any("snapshots" in request for request in told.requests)


def test_the_recorded_leak_is_named() -> None:
    recording = recordings.load("memory-leak")
    text = b"".join(file.read() for file in recording.files)
    run = read_log(text.decode())
    assert {f.id for f in diagnose(run).findings} >= {"memory_growth", "host_oom"}
    assert causes(run)[0] == "memory_leak"


def test_level_points_do_not_strengthen_a_leak() -> None:
    leak = 300 + 600 * TIME
    before = of(leak)[0].confidence
    for more in (100, 1000):
        later = of(np.concatenate([leak, np.full(more, leak[-1])]))
        assert all(finding.confidence <= before for finding in later)
    assert later == []


@pytest.mark.parametrize(
    ("name", "severity"), [("rss_gb", Severity.CRITICAL), ("gpu_mem", Severity.WARNING)]
)
def test_growth_that_the_run_was_killed_for_comes_first(name: str, severity: Severity) -> None:
    steps = "".join(f"step {n} loss {3 - n / 100:.3f} {name} {6 + n / 20:.2f}\n" for n in range(90))
    told = diagnose(
        read_log(steps + "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch.\n")
    )
    graves = [f.id for f in told.findings if f.is_alarm]
    (grown,) = [f for f in told.findings if f.id == "memory_growth"]
    assert grown.severity is severity
    assert (graves[0] == "memory_growth") is (severity is Severity.CRITICAL)

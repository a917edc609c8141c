"""throughput_drop, straggler and dataloader_bound: the run's own noise decides what is much."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import discover
from mltd.runs.harvest import Floats
from mltd.runs.ingest import load
from tests.analyzers.made import make_run, read_log

from .asking import causes, found

COUNT = 400
GENERATOR = np.random.default_rng(5)
EVEN = 0.5 * np.exp(GENERATOR.normal(0, 0.01, COUNT))
ROUGH = 0.5 * np.exp(GENERATOR.normal(0, 0.3, COUNT))
HALF = np.where(np.arange(COUNT) < 200, 1.0, 1.6)


def drops(series: dict[str, Floats]) -> list[Finding]:
    run = make_run({name: values.tolist() for name, values in series.items()})
    return found(run, "throughput_drop")


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_a_change_of_level_is_dated(unit: float) -> None:
    (finding,) = drops({"step_time": unit * EVEN * HALF})
    assert finding.severity is Severity.WARNING
    assert finding.first_step == pytest.approx(200, abs=2)
    assert finding.number("factor") == pytest.approx(1.6, rel=0.05)
    assert "1.6" in finding.title


@pytest.mark.parametrize("name", ["step_time_ms", "iter_ms", "sec_per_step", "perf/batch_time"])
def test_names_for_the_time_of_a_step(name: str) -> None:
    assert drops({name: EVEN * HALF})


@pytest.mark.parametrize("name", ["perf/data_time", "dataloader_time", "data_wait", "data_s"])
def test_names_for_the_wait_for_data(name: str) -> None:
    assert bound(0.7 * EVEN, EVEN, data=name)


def test_throughput_is_the_inverse() -> None:
    (finding,) = drops({"samples_per_sec": 64 / (EVEN * HALF)})
    assert finding.first_step == pytest.approx(200, abs=2)


def test_elapsed_time_is_differentiated() -> None:
    (finding,) = drops({"elapsed": np.cumsum(EVEN * HALF)})
    assert finding.details["kind"] == "total"
    assert finding.first_step == pytest.approx(200, abs=3)


def test_time_stamps_do_where_nothing_else_is_logged() -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    lines = []
    for step, factor in enumerate(HALF):
        moment += timedelta(seconds=20 * float(factor))
        lines.append(f"{moment:%Y-%m-%d %H:%M:%S} step {step} loss {2 - step / 1000:.3f}")
    (finding,) = found(read_log("\n".join(lines) + "\n"), "throughput_drop")
    assert finding.details["kind"] == "stamps"
    assert finding.first_step == pytest.approx(200, abs=5)


def test_a_slow_down_without_a_step_is_gradual() -> None:
    (finding,) = drops({"step_time": EVEN * np.linspace(1, 2, COUNT)})
    assert finding.number("gradual") == 1
    run = make_run({"step_time": (EVEN * np.linspace(1, 2, COUNT)).tolist()})
    assert causes(run)[0] == "memory_leak"


def test_rough_steps_need_a_larger_drop() -> None:
    slower = np.where(HALF > 1, 1.3, 1.0)
    assert drops({"step_time": EVEN * slower})
    assert drops({"step_time": ROUGH * slower}) == []
    assert drops({"step_time": ROUGH * np.where(HALF > 1, 4.0, 1.0)})


def _pauses() -> Floats:
    values = EVEN.copy()
    values[::50] *= 20
    return values


@pytest.mark.parametrize(
    "healthy",
    [
        EVEN,
        ROUGH,
        _pauses(),
        np.concatenate([[30.0, 9.0, 4.0], EVEN]),
        EVEN / HALF,
        EVEN * np.where((np.arange(COUNT) > 100) & (np.arange(COUNT) < 130), 3.0, 1.0),
        np.full(COUNT, 0.5),
        np.full(COUNT, np.nan),
    ],
    ids=["even", "rough", "pauses", "compile", "faster", "neighbour", "constant", "nan"],
)
def test_healthy_paces_raise_no_alarm(healthy: Floats) -> None:
    assert [f for f in drops({"step_time": healthy}) if f.is_alarm] == []


def test_a_running_average_that_settles_is_no_drop() -> None:
    settling = 900 * (1 + 1.0 / np.sqrt(1 + np.arange(COUNT)))
    assert [f for f in drops({"fps": settling}) if f.is_alarm] == []


def test_a_larger_batch_takes_longer_by_plan() -> None:
    batch = np.where(HALF > 1, 128.0, 64.0)
    assert drops({"step_time": EVEN * HALF, "batch_size": batch}) == []


def test_longer_steps_at_the_same_throughput_are_no_drop() -> None:
    assert drops({"step_time": EVEN * HALF, "tokens_per_sec": 1000 / EVEN}) == []


def test_waiting_that_grew_with_the_steps_is_the_cause() -> None:
    wait = np.where(HALF > 1, 0.32, 0.02) * EVEN / 0.5
    run = make_run(
        {"step_time": (EVEN * HALF).tolist(), "data_time": wait.tolist()},
        config={"num_workers": 1},
    )
    assert causes(run)[0] == "dataloader_bottleneck"
    level = make_run({"step_time": (EVEN * HALF).tolist(), "data_time": (0.02 + 0 * EVEN).tolist()})
    assert "dataloader_bottleneck" not in causes(level)


def test_without_data_time_it_is_asked_for() -> None:
    told = diagnose(make_run({"step_time": (EVEN * HALF).tolist()}))
    assert any("data_time" in request for request in told.requests)


# -- stragglers ---------------------------------------------------------------------------------


def straggling(factors: list[float], noise: Floats = EVEN) -> list[Finding]:
    generator = np.random.default_rng(7)
    series = {
        f"step_time_rank{rank}": (generator.permutation(noise) * factor).tolist()
        for rank, factor in enumerate(factors)
    }
    return found(make_run(series), "straggler")


def test_the_slow_rank_is_named() -> None:
    (finding,) = straggling([1, 1, 1.5, 1])
    assert finding.number("rank") == 2
    assert "rank 2" in finding.title
    assert finding.evidence[0].ref.startswith("step_time_rank2@")


def test_ranks_by_the_prefix_of_their_lines() -> None:
    generator = np.random.default_rng(1)
    lines = []
    for step in range(60):
        for rank in range(4):
            spent = (0.9 if rank == 3 else 0.5) + generator.normal(0, 0.01)
            lines.append(
                f"[rank{rank}]: step {step} loss {2 - step / 99:.3f} step_time {spent:.3f}"
            )
    (finding,) = found(read_log("\n".join(lines) + "\n"), "straggler")
    assert finding.number("rank") == 3


def test_ranks_by_the_names_of_their_files(tmp_path: Path) -> None:
    for rank in range(3):
        spent = 0.3 if rank == 1 else 0.15
        (tmp_path / f"rank_{rank}.log").write_text(
            "".join(
                f"[{rank}] step {step} loss {2 / step:.4f} fwd_bwd {spent + step % 3 / 999:.3f}s "
                f"allreduce_wait {0.304 - spent:.3f}s\n"
                for step in range(5, 200, 5)
            )
        )
    (files,) = discover(str(tmp_path))
    (finding,) = found(load(files).run, "straggler")
    assert finding.number("rank") == 1
    assert "fwd bwd" in finding.title


@pytest.mark.parametrize("factors", [[1, 1, 1, 1], [1, 1.1, 0.95, 1], [1, 1.2], [1.5]])
def test_ranks_that_differ_a_little_are_equal(factors: list[float]) -> None:
    assert straggling(factors) == []


def test_of_two_ranks_one_must_be_clearly_slower() -> None:
    assert straggling([1, 1.6])


def test_a_rank_that_was_slow_once_is_no_straggler() -> None:
    slow = EVEN * np.where(np.arange(COUNT) < 100, 2.0, 1.0)
    series = {f"step_time_rank{rank}": EVEN.tolist() for rank in range(3)}
    series["step_time_rank3"] = slow.tolist()
    assert found(make_run(series), "straggler") == []


# -- waiting for data ---------------------------------------------------------------------------


def bound(wait: Floats, whole: Floats, **names: str) -> list[Finding]:
    series = {
        names.get("data", "data_time"): wait.tolist(),
        names.get("step", "step_time"): whole.tolist(),
    }
    return found(make_run(series), "dataloader_bound")


def test_waiting_for_most_of_the_step_is_a_warning() -> None:
    (finding,) = bound(0.7 * EVEN, EVEN)
    assert finding.severity is Severity.WARNING
    assert "70%" in finding.title


def test_a_third_of_the_step_is_information() -> None:
    (finding,) = bound(0.4 * EVEN, EVEN)
    assert finding.severity is Severity.INFO
    assert bound(0.2 * EVEN, EVEN) == []


def test_waiting_that_begins_later_is_dated() -> None:
    wait = np.where(np.arange(COUNT) < 300, 0.02, 0.4) * EVEN / 0.5
    (finding,) = bound(wait, EVEN)
    assert finding.severity is Severity.WARNING
    assert finding.first_step == pytest.approx(300, abs=2)


def test_waiting_that_is_over_is_not_reported() -> None:
    wait = np.where(np.arange(COUNT) < 300, 0.4, 0.02) * EVEN / 0.5
    assert bound(wait, EVEN) == []


def test_a_wait_beside_the_step_counts_for_both() -> None:
    (finding,) = bound(3 * EVEN, EVEN)
    assert finding.number("share") == pytest.approx(0.75, abs=0.01)


def test_units_are_brought_together_or_nothing_is_said() -> None:
    assert bound(20 * EVEN, EVEN, data="data_time_ms") == []
    assert bound(600 * EVEN, EVEN, data="data_time_ms")[0].number("share") == pytest.approx(0.6)
    assert bound(600 * EVEN, EVEN) == []


def test_first_batches_may_take_long() -> None:
    wait = np.full(COUNT, 0.01)
    wait[:5] = 5
    assert bound(wait, EVEN + wait) == []


def test_few_workers_and_a_wait_make_two_kinds_of_evidence() -> None:
    run = make_run(
        {"data_time": (0.7 * EVEN).tolist(), "step_time": EVEN.tolist()},
        config={"num_workers": 1},
    )
    best = diagnose(run).root_causes[0]
    assert best.id == "dataloader_bottleneck"
    assert best.confidence >= 0.75
    assert "num_workers 1 -> 4" in best.fixes[0].change


def test_a_warning_about_workers_is_information() -> None:
    text = (
        "/lib/lightning/data_connector.py:441: The 'train_dataloader' does not have many workers "
        "which may be a bottleneck.\nstep 1 loss 2.0\nstep 2 loss 1.9\nstep 3 loss 1.8\n"
    )
    (finding,) = found(read_log(text), "dataloader_bound")
    assert finding.severity is Severity.INFO

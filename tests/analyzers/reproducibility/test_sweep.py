"""Several runs together: groups, spread, outliers, and runs that must be left out."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.diagnosis import Diagnostician, diagnose
from mltd.analyzers.reproducibility.spread import outliers, summarise
from mltd.analyzers.reproducibility.sweep import compare
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run


def repetition(
    name: str, final: float, steps: int = 20, broken: bool = False, **config: object
) -> Run:
    run = Run(name)
    run.is_over = True
    lines = [
        f"epoch {n} train_loss {2 - n / steps:.4f} val_acc {0.1 + (final - 0.1) * n / steps:.5f}"
        for n in range(steps + 1)
    ]
    if broken:
        lines.append("RuntimeError: it broke")
    read_stream(run, f"{name}.log", iter(["\n".join(lines).encode() + b"\n"]))
    run.add_config({"lr": 0.1, "batch_size": 8, "output_dir": f"/runs/{name}", **config})
    return run


def sweep(finals: list[float], **more: object) -> list[Run]:
    return [repetition(f"r{n}", final, seed=n, **more) for n, final in enumerate(finals)]  # type: ignore[arg-type]


GOOD = [0.90, 0.91, 0.905, 0.895, 0.9, 0.908, 0.902]


def test_repetitions_that_agree_give_nothing() -> None:
    assert compare(sweep(GOOD)) == {}


def test_the_outlier_is_warned_and_the_others_are_told() -> None:
    found = compare(sweep([*GOOD, 0.4]))
    assert found["r7"][0].severity is Severity.WARNING
    assert "0.38" in found["r7"][0].title or "0.39" in found["r7"][0].title
    assert {found[f"r{n}"][0].severity for n in range(7)} == {Severity.INFO}
    assert "r7" in found["r0"][0].title
    assert found["r7"][0].evidence[0].ref.startswith("r7: val_acc@")


def test_a_wide_spread_is_a_warning_for_all_with_its_cause() -> None:
    runs = sweep([0.9, 0.5, 0.7, 0.95, 0.45, 0.8])
    found = compare(runs)
    assert len(found) == 6
    told = Diagnostician(runs[0], siblings=found["r0"]).diagnose()
    assert told.problems == ()
    best = told.root_causes[0]
    assert best.id == "seed_variance"
    assert best.confidence >= 0.8
    assert len(best.fixes) >= 3
    assert "95 %" in found["r0"][0].title


def test_the_scale_of_the_metric_changes_no_verdict() -> None:
    small = compare(sweep([*GOOD, 0.4]))
    runs = []
    for n, final in enumerate([*GOOD, 0.4]):
        run = Run(f"r{n}")
        run.is_over = True
        values = [1000 * (2 - (1 - (1 - final)) * i / 20) for i in range(21)]
        log = "\n".join(f"step {i} loss {value:.4f}" for i, value in enumerate(values))
        read_stream(run, "x.log", iter([log.encode() + b"\n"]))
        run.add_config({"lr": 0.1, "batch_size": 8, "seed": n})
        runs.append(run)
    large = compare(runs)
    assert {n: f[0].severity for n, f in small.items()} == {
        n: f[0].severity for n, f in large.items()
    }


def test_runs_with_other_settings_are_not_compared() -> None:
    runs = [repetition(f"r{n}", v, seed=n, width=n) for n, v in enumerate([0.9, 0.2, 0.5, 0.7])]
    assert compare(runs) == {}


def test_runs_that_broke_or_are_short_are_left_out() -> None:
    runs = [*sweep(GOOD), repetition("broken", 0.2, broken=True, seed=99)]
    runs.append(repetition("short", 0.9, steps=8, seed=100))
    assert compare(runs) == {}


def test_one_seed_and_two_results_is_a_warning() -> None:
    runs = [repetition("a", 0.9, seed=3), repetition("b", 0.7, seed=3)]
    found = compare(runs)
    assert found["a"][0].severity is Severity.WARNING
    assert "seed 3" in found["a"][0].title
    told = diagnose(runs[0], found["a"])
    assert told.root_causes[0].id == "seed_variance"
    assert "not seeded" in told.root_causes[0].issue
    assert compare([repetition("a", 0.9, seed=3), repetition("b", 0.9, seed=3)]) == {}


def test_without_settings_the_names_tell() -> None:
    runs = sweep([0.9, 0.5, 0.7, 0.95, 0.45, 0.8])
    for n, run in enumerate(runs):
        run.config.clear()
        run.name = f"exp_seed{n}"
    assert set(compare(runs)) == {f"exp_seed{n}" for n in range(6)}
    for n, run in enumerate(runs):
        run.name = f"other{n}"
    assert compare(runs) == {}


def test_statistics_are_the_same_each_time_and_cover_the_truth() -> None:
    values = np.random.default_rng(1).normal(0.8, 0.05, 60)
    first, second = summarise(values), summarise(values)
    assert first == second
    assert first.mean_interval.low < 0.8 < first.mean_interval.high
    assert first.deviation_interval.low < 0.05 < first.deviation_interval.high


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e308])
def test_odd_results_are_outliers_and_never_break_it(odd: float) -> None:
    values = np.array([*GOOD, odd])
    assert outliers(values, 0.8).tolist() == [False] * 7 + [True]
    runs = sweep(GOOD)
    run = Run("odd")
    run.is_over = True
    log = "\n".join(f"epoch {n} train_loss 1.{n} val_acc {odd}" for n in range(21))
    read_stream(run, "x.log", iter([log.encode() + b"\n"]))
    run.add_config({"lr": 0.1, "batch_size": 8, "seed": 50})
    compare([*runs, run])


def test_no_runs_and_one_run_are_fine() -> None:
    assert compare([]) == {}
    assert compare(sweep([0.9])) == {}


def _same_seed(name: str, first: float, **config: object) -> Run:
    run = Run(name)
    run.is_over = True
    lines = [
        f"step {n} loss {first * 0.9**n + 0.1:.5f} val_acc {0.9 - 0.8 * 0.9**n:.5f}"
        for n in range(1, 60)
    ]
    read_stream(run, f"{name}.log", iter(["\n".join(lines).encode() + b"\n"]))
    run.add_config({"lr": 0.1, "batch_size": 8, "seed": 3, "output_dir": f"/o/{name}", **config})
    return run


def test_one_seed_and_two_first_losses_is_a_seed_that_is_not_applied() -> None:
    found = compare([_same_seed("run1", 2.3), _same_seed("run2", 2.33)])
    assert [f.severity for f in found["run2"]] == [Severity.WARNING]
    assert "the seed is not applied" in found["run1"][0].title


def _seldom_logged(name: str, batches: int, weights: float) -> Run:
    """A record every five steps, noisy by the batches that the run saw."""
    run = Run(name)
    run.is_over = True
    hard = np.random.default_rng(batches).normal(0, 0.1, 81)
    lines = [
        f"step {5 * n} loss {2.3 * weights * 0.95**n + 0.2 + abs(hard[n]):.5f} acc 0.97"
        for n in range(1, 81)
    ]
    read_stream(run, f"{name}.log", iter(["\n".join(lines).encode() + b"\n"]))
    run.add_config({"lr": 0.1, "batch_size": 8, "seed": 3})
    return run


def test_other_batches_under_one_seed_show_where_the_first_steps_are_not_logged() -> None:
    one = _seldom_logged("repeat_0", 1, 1.0)
    assert (
        "the seed is not applied"
        in compare([one, _seldom_logged("repeat_1", 2, 1.0)])["repeat_0"][0].title
    )
    # Sums in another order lead elsewhere, step by step, over the same batches.
    assert compare([one, _seldom_logged("repeat_1", 1, 1.01)]) == {}


@pytest.mark.parametrize(
    ("name", "first", "config"),
    [
        ("run2", 2.3004, {}),
        ("with_dropout", 2.33, {}),
        ("run2", 2.33, {"git_commit": "8fa3"}),
        ("run2", 2.33, {"data_dir": "/data/new"}),
    ],
)
def test_rounding_other_code_and_other_data_are_reasons_to_differ(
    name: str, first: float, config: dict[str, object]
) -> None:
    one = _same_seed("run1", 2.3, git_commit="77ab", data_dir="/data/old")
    other = {"git_commit": "77ab", "data_dir": "/data/old", **config}
    assert compare([one, _same_seed(name, first, **other)]) == {}


def test_one_of_four_repetitions_that_fails_is_told_and_one_a_bit_worse_is_not() -> None:
    found = compare([repetition(f"r{n}", v, seed=n) for n, v in enumerate((0.9, 0.91, 0.89, 0.3))])
    assert [f.severity for f in found["r3"]] == [Severity.WARNING]
    assert [f.severity for f in found["r0"]] == [Severity.INFO]
    assert not compare(
        [repetition(f"r{n}", v, seed=n) for n, v in enumerate((0.9, 0.91, 0.89, 0.82))]
    )


def test_repetitions_by_name_need_no_config() -> None:
    runs = [repetition(f"repeat_{n}", v) for n, v in enumerate((0.9, 0.91, 0.89, 0.3))]
    others = [repetition(f"model_{n}", v) for n, v in enumerate((0.9, 0.91, 0.89, 0.3))]
    for run in (*runs, *others):
        run.config.clear()
    assert set(compare([*runs, *others])) == {run.name for run in runs}

"""Thinning: memory is bounded, and nothing that matters is lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.diagnosis import diagnose
from mltd.runs import thinning
from mltd.runs.harvest import Column, ColumnKey, Floats, Harvest
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series
from mltd.runs.thinning import thin, thin_if_larger

NAN = float("nan")
INF = float("inf")


def new_run() -> Run:
    run = Run("made")
    run.is_over = True
    run.add_file(SourceFile("made.csv", format="csv"))
    return run


def extend(
    run: Run,
    columns: Mapping[str, tuple[Sequence[int], Sequence[float] | Floats] | Floats],
    steps: Sequence[float],
    file: int = 0,
) -> None:
    """Add rows at these steps; a column has values in some rows, or in all."""
    made = []
    for name, column in columns.items():
        rows, values = column if isinstance(column, tuple) else (range(len(column)), column)
        made.append(Column(ColumnKey(name), np.asarray(rows), np.asarray(values, dtype=float)))
    count = len(steps)
    axes = {"step": np.asarray(steps, dtype=float)}
    run.append(file, Harvest(np.arange(1, count + 1), axes, made, lines=count))


def series_of(run: Run, name: str, file: int = 0) -> Series:
    series = run.find(file, name)
    assert series is not None
    return series


@pytest.fixture
def few_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinning, "NEWEST", 8)


VALUES = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([NAN, INF, -INF, 0.0]))


def of_length(count: int) -> st.SearchStrategy[list[float | None]]:
    return st.lists(st.one_of(st.none(), VALUES), min_size=count, max_size=count)


TABLES = st.integers(1, 300).flatmap(
    lambda count: st.lists(of_length(count), min_size=1, max_size=3)
)


@given(tables=st.lists(TABLES, min_size=1, max_size=3), times=st.integers(1, 4))
def test_extremes_survive_any_number_of_thinnings(
    tables: list[list[list[float | None]]], times: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thinning, "NEWEST", 8)
        patch.setattr(thinning, "FEW", 4)
        run = new_run()
        logged: dict[str, list[tuple[float, float]]] = {}
        row = 0
        for table in tables:
            columns = {}
            for number, column in enumerate(table):
                name = f"loss{number}"
                here = [i for i, value in enumerate(column) if value is not None]
                values = [value for value in column if value is not None]
                columns[name] = (here, values)
                pairs = zip(here, values, strict=True)
                logged.setdefault(name, []).extend((row + i, value) for i, value in pairs)
            count = len(table[0])
            extend(run, columns, range(row, row + count))
            row += count
            for _ in range(times):
                thin(run)
    for name, points in logged.items():
        check(series_of(run, name), points, row)


def check(series: Series, points: list[tuple[float, float]], rows: int) -> None:
    """What is left is a part of what was logged, with its extremes, in its place."""
    kept = list(zip(series.axis("step").tolist(), series.values.tolist(), strict=True))
    assert len(kept) + series.dropped == len(points)
    before = dict(points)
    assert [step for step, _ in kept] == sorted({step for step, _ in kept})
    np.testing.assert_equal([value for _, value in kept], [before[step] for step, _ in kept])
    assert series.lines.tolist() == [step + 1 for step, _ in kept]
    finite = [value for _, value in points if math.isfinite(value)]
    left = [value for _, value in kept if math.isfinite(value)]
    assert min(left, default=NAN) == pytest.approx(min(finite, default=NAN), nan_ok=True)
    assert max(left, default=NAN) == pytest.approx(max(finite, default=NAN), nan_ok=True)
    has_bad = len(finite) < len(points)
    assert has_bad == (len(left) < len(kept))
    assert len(points) - len(finite) == len(kept) - len(left) + series.dropped_bad
    newest = {step for step, _ in points if step >= rows - 8}
    assert newest <= {step for step, _ in kept}


@pytest.mark.usefixtures("few_newest")
@given(st.sets(st.integers(0, 1999), max_size=6))
def test_single_values_that_are_not_finite_are_all_kept(places: set[int]) -> None:
    run = new_run()
    values = np.random.default_rng(1).normal(size=2000)
    values[sorted(places)] = NAN
    extend(run, {"loss": values}, range(2000))
    for _ in range(3):
        thin(run)
    loss = series_of(run, "loss")
    assert set(loss.axis("step")[np.isnan(loss.values)].tolist()) == places
    assert loss.dropped_bad == 0
    assert len(loss) < 800


def test_a_run_that_is_nan_to_its_end_is_thinned_as_well() -> None:
    run = new_run()
    values = np.ones(100_000)
    values[30_000:] = NAN
    extend(run, {"loss": values}, range(100_000))
    for _ in range(3):
        thin(run)
    loss = series_of(run, "loss")
    assert len(loss) < 30_000
    assert loss.axis("step")[np.isnan(loss.values)][0] == 30_000
    assert int(np.isnan(loss.values).sum()) + loss.dropped_bad == 70_000


def test_lines_that_alternate_are_thinned_alike() -> None:
    run = new_run()
    rows = np.arange(40_000)
    noise = np.random.default_rng(2).normal(size=20_000)
    columns = {"loss": (rows[::2].tolist(), noise), "grad_norm": (rows[1::2].tolist(), noise)}
    extend(run, columns, (rows // 2).tolist())
    for _ in range(2):
        thin(run)
    loss, norm = series_of(run, "loss"), series_of(run, "grad_norm")
    assert len(loss) == pytest.approx(len(norm), rel=0.1)
    assert len(norm) < 10_000


def test_a_metric_that_is_seldom_logged_keeps_its_points() -> None:
    run = new_run()
    rows = np.arange(0, 200_000, 100)
    noise = np.random.default_rng(3).normal(size=200_000)
    extend(run, {"loss": noise, "val_loss": (rows.tolist(), noise[rows])}, range(200_000))
    for _ in range(4):
        thin(run)
    assert run.thinned == 16
    assert series_of(run, "val_loss").axis("step").tolist() == rows.tolist()


def test_both_sides_of_a_restart_are_kept() -> None:
    run = new_run()
    noise = np.random.default_rng(4).normal(size=10_001)
    steps = range(10_001)
    extend(run, {"loss": noise}, steps)
    extend(run, {"loss": noise}, [step + 5003 for step in steps])
    run.start_generation(0)
    extend(run, {"loss": noise}, [step + 7001 for step in steps])
    for _ in range(3):
        thin(run)
    loss = series_of(run, "loss")
    x, generation = loss.axis("step"), loss.coordinates.generation.view()[loss.rows]
    fall = int(np.flatnonzero(np.diff(x) < 0)[0])
    assert x[[fall, fall + 1]].tolist() == [10_000, 5003]
    start = int(np.flatnonzero(np.diff(generation))[0])
    assert x[[start, start + 1]].tolist() == [15_003, 7001]
    assert (loss.lines[0], loss.lines[-1]) == (1, 10_001)


def test_a_thinned_run_goes_on_growing() -> None:
    run = new_run()
    extend(run, {"loss": np.arange(10_000.0)}, range(10_000))
    thin(run)
    assert (run.thinned, run.thinnings) == (2, 1)
    count = len(series_of(run, "loss"))
    assert series_of(run, "loss").axis_name == "step"
    extend(run, {"loss": np.arange(3.0)}, [NAN, NAN, 10_005])
    loss = series_of(run, "loss")
    assert len(loss) == count + 3
    assert loss.axis("step")[-3:].tolist() == [9999, 9999, 10_005]
    assert loss.line_of(-1) == 10_003
    assert loss.axis_name == "step"


def test_old_rows_stay_evenly_spaced_however_often_memory_runs_out() -> None:
    run = new_run()
    noise = np.random.default_rng(5)
    for start in range(0, 600_000, 10_000):
        extend(run, {"loss": noise.normal(size=10_000)}, range(start, start + 10_000))
        thin_if_larger(run, 1 << 20)
        assert run.allocated <= 1 << 20
        assert run.nbytes > 100_000
    gaps = np.diff(series_of(run, "loss").axis("step"))[:-5000]
    assert gaps.max() <= run.thinned
    assert run.thinned <= 64
    assert run.thinnings < 60


def test_a_run_within_its_limit_is_left_alone() -> None:
    run = new_run()
    extend(run, {"loss": np.arange(50_000.0)}, range(50_000))
    assert thin_if_larger(run, 10 << 20) == run.thinned == 1
    assert run.thinnings == 0
    assert series_of(run, "loss").dropped == 0


def test_memory_is_given_back() -> None:
    run = new_run()
    noise = np.random.default_rng(6)
    columns = {name: noise.normal(size=300_000) for name in ("loss", "grad_norm", "lr", "memory")}
    extend(run, columns, range(300_000))
    assert run.allocated > 19 << 20
    factor = thin_if_larger(run, 8 << 20)
    assert factor == run.thinned > 1
    assert run.allocated <= 0.6 * (8 << 20)
    assert run.allocated < 1.01 * run.nbytes
    for series in run.series:
        assert (
            series.values.base is None or series.values.base.nbytes <= 1.01 * series.values.nbytes
        )


def test_rows_of_thousands_of_metrics_are_bounded_too() -> None:
    run = new_run()
    values = np.random.default_rng(7).normal(size=4000)
    extend(run, {f"loss/{number}": values for number in range(600)}, range(4000))
    before = run.allocated
    thin_if_larger(run, before // 4)
    assert run.allocated <= before // 4
    assert len(series_of(run, "loss/7")) >= 256
    thinnings = run.thinnings
    thin_if_larger(run, 1)
    thin_if_larger(run, 1)
    assert run.thinnings < thinnings + 8


def test_only_the_file_that_is_long_is_thinned() -> None:
    run = new_run()
    run.add_file(SourceFile("short.csv", format="csv"))
    extend(run, {"loss": np.arange(20_000.0)}, range(20_000))
    extend(run, {"val_loss": np.arange(30.0)}, range(30), file=1)
    assert thin(run)
    assert series_of(run, "loss").dropped > 0
    assert series_of(run, "val_loss", 1).dropped == 0
    assert not thin(Run("empty"))


# -- verdicts ------------------------------------------------------------------------------


def training(seed: int) -> dict[str, Floats]:
    """200,000 steps of a healthy, noisy training."""
    noise, count = np.random.default_rng(seed), 200_000
    step = np.arange(count)
    return {
        "loss": 1.5 + 3 * np.exp(-step / 25_000) + noise.normal(0, 0.08, count),
        "grad_norm": 0.8 * np.exp(noise.normal(0, 0.25, count)),
        "lr": 3e-4 * np.minimum(step / 2000, 1) * (0.55 + 0.45 * np.cos(np.pi * step / count)),
    }


def alarms(columns: dict[str, Floats]) -> dict[str, float | None]:
    run = new_run()
    extend(run, columns, range(200_000))
    for _ in range(3):
        thin(run)
    assert run.thinned == 8
    assert len(series_of(run, "loss")) < 50_000
    return {found.id: found.first_step for found in diagnose(run).findings if found.is_alarm}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_thinned_healthy_run_raises_no_alarm(seed: int) -> None:
    assert alarms(training(seed)) == {}


def test_a_spike_of_one_step_is_still_found() -> None:
    columns = training(3)
    columns["loss"][70_001] = 40.0
    assert alarms(columns).get("loss_spike") == 70_001


def test_a_divergence_is_still_found_where_it_began() -> None:
    columns = training(4)
    columns["loss"][150_000:] += np.minimum(np.exp(np.arange(50_000) / 2000) - 1, 80)
    assert alarms(columns)["loss_divergence"] == pytest.approx(151_000, abs=1000)

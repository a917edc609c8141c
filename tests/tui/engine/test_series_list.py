"""The list of metrics: what is worth looking at first, in numbers that cost nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mltd.runs.envelope import Envelopes
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series
from mltd.runs.thinning import thin
from mltd.tui.engine.protocol import SeriesInfo
from mltd.tui.engine.series_list import describe_series, find_series, key_of

from .made_runs import extend, make_run, series_of

NAN = float("nan")


def described(run: Run) -> dict[str, SeriesInfo]:
    return {info.name: info for info in describe_series(3, run, Envelopes()).series}


def test_what_stands_for_the_run_comes_first() -> None:
    names = ["aux", "mem_gb", "tokens/s", "loss_cls", "lr", "grad_norm", "val_loss", "acc", "loss"]
    run = make_run({name: [1.0, 2.0, 3.0] for name in names})
    found = describe_series(3, run, Envelopes())
    assert found.run == 3
    assert [info.name for info in found.series] == [
        "loss",
        "val_loss",
        "grad_norm",
        "lr",
        "tokens/s",
        "mem_gb",
        "acc",
        "aux",
        "loss_cls",
    ]


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("loss", "loss"),
        ("val_loss", "loss"),
        ("test_loss", "loss"),
        ("grad_norm", "gradients"),
        ("gradients/encoder.block.3", "gradients"),
        ("lr", "rate"),
        ("tokens/s", "throughput"),
        ("gpu_mem", "memory"),
        ("val_acc", "accuracy"),
        ("f1", "accuracy"),
        ("frobnication", "other"),
    ],
)
def test_metrics_are_grouped_by_what_is_drawn_together(name: str, group: str) -> None:
    assert described(make_run({name: [1.0, 2.0, 3.0]}))[name].group == group


def test_one_metric_of_each_role_is_the_primary_one() -> None:
    found = described(make_run({name: [1.0, 2.0] for name in ("loss_box", "loss", "val_loss")}))
    assert [name for name, info in found.items() if info.is_primary] == ["loss", "val_loss"]


def test_numbers_tell_the_whole() -> None:
    run = make_run({"loss": [3.0, NAN, -2.0, float("inf"), 1.0]})
    info = described(run)["loss"]
    assert (info.points, info.low, info.high, info.last, info.nonfinite) == (5, -2.0, 3.0, 1.0, 2)
    assert (info.role, info.key) == ("train/loss", "0:loss")


def test_axes_are_those_that_have_values_the_best_first() -> None:
    run = make_run({"loss": [1.0, 2.0]}, time=[5.0, 6.0], step=[NAN, NAN], epoch=[NAN, 1.0])
    assert described(run)["loss"].axes == ("epoch", "time", "index")


def test_an_axis_that_appears_later_is_listed() -> None:
    run, envelopes = make_run({"loss": [1.0, 2.0]}, epoch=[0.0, 1.0]), Envelopes()
    assert describe_series(0, run, envelopes).series[0].axes == ("epoch", "index")
    extend(run, {"loss": [3.0]}, step=[7.0])
    assert describe_series(0, run, envelopes).series[0].axes == ("step", "epoch", "index")


def test_points_that_were_dropped_are_still_counted() -> None:
    values = np.random.default_rng(0).normal(size=20_000)
    values[100:10_000] = NAN
    run = make_run({"loss": values.tolist()})
    before = described(run)["loss"]
    thin(run)
    thin(run)
    assert len(series_of(run, "loss")) < 15_000
    assert described(run)["loss"] == before


def test_two_lists_that_say_the_same_are_equal() -> None:
    run = make_run({"loss": [1.0, NAN], "nothing_loss": [NAN, NAN]})
    envelopes = Envelopes()
    assert describe_series(0, run, envelopes) == describe_series(0, run, envelopes)
    assert math.isnan(described(run)["nothing_loss"].low)


def test_layers_are_seen() -> None:
    layers = {f"grad_norm/layer{number}": [1.0, 2.0] for number in range(3)}
    assert describe_series(0, make_run(layers), Envelopes()).has_layers
    assert not describe_series(0, make_run({"grad_norm": [1.0]}), Envelopes()).has_layers


def test_a_key_finds_its_metric_again() -> None:
    run = make_run({"loss": [1.0]})
    run.add_file(SourceFile("other.log"))
    extend(run, {"loss": [2.0], "a:b": [1.0]}, file=1)
    for series in run.series:
        assert find_series(run, key_of(series)) is series
    for unknown in ("0:lss", "7:loss", "loss", ":", ""):
        assert find_series(run, unknown) is None


def test_a_list_costs_no_look_at_old_values(monkeypatch: pytest.MonkeyPatch) -> None:
    run, envelopes = make_run({"loss": [1.0] * 100}), Envelopes()
    first = describe_series(0, run, envelopes)
    monkeypatch.setattr(np, "isfinite", lambda _: pytest.fail("looked at values again"))
    monkeypatch.setattr(Series, "is_metric", True)
    assert describe_series(0, run, envelopes) == first


def test_an_axis_on_which_all_points_lie_in_one_place_comes_last() -> None:
    run = make_run({"loss": [float(n) for n in range(9)]}, step=[0.0] * 9, time=list(range(9)))
    assert described(run)["loss"].axes == ("time", "index", "step")

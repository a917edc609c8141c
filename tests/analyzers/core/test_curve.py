"""Curves: the newest branch of a series, whatever its counter did."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.curve import Curve
from mltd.analyzers.core.view import RunView
from mltd.runs.run import Run
from tests.analyzers.made import extend, falling, make_run, noisy


def curve_of(values: list[float], steps: Sequence[float] | None = None) -> Curve:
    found = RunView(make_run({"loss": values}, steps)).curve("train/loss")
    assert found is not None
    return found


def test_a_plain_series_is_its_own_curve() -> None:
    curve = curve_of([3.0, 2.0, 1.0])
    assert curve.x.tolist() == [0, 1, 2]
    assert curve.y.tolist() == [3, 2, 1]
    assert curve.restarts == []
    assert (curve.axis_name, curve.line(1), curve.raw_index(2)) == ("step", 2, 2)


def test_a_restart_replaces_what_it_repeats() -> None:
    first = falling(4, 1, 60, 0.01)
    again = [value + 0.001 for value in first[40:]]
    curve = curve_of(first + again, [*range(60), *range(40, 60)])
    assert curve.x.tolist() == list(range(60))
    assert curve.y.tolist() == first[:40] + again
    (restart,) = curve.restarts
    assert (restart.raw, restart.at, restart.reached, restart.resumed) == (60, 40, 59, 40)
    assert restart.before.tolist() == first[40:]
    assert curve.raw_index(40) == 60
    assert curve.line(40) == 61


def test_a_counter_that_begins_again_each_epoch_counts_on() -> None:
    values = falling(4, 1, 90, 0.01)
    curve = curve_of(values, [*range(30)] * 3)
    assert curve.restarts == []
    assert curve.x.tolist() == list(range(90))
    assert curve.y.tolist() == values


def test_a_run_begun_anew_is_no_counting_on() -> None:
    curve = curve_of([*falling(4, 1, 60, 0.01), *falling(4, 1, 20, 0.01)], [*range(60), *range(20)])
    assert len(curve.restarts) == 1
    assert len(curve) == 20


def test_a_counter_shared_by_several_writers_is_given_up() -> None:
    steps = [step for pair in zip(range(50), range(0, 50), strict=True) for step in pair]
    steps[1::2] = [step - 3 for step in steps[1::2]]
    curve = curve_of(noisy(2, 100), steps)
    assert curve.is_interleaved
    assert curve.x.tolist() == list(range(100))
    assert len(curve) == 100


def test_steps_that_are_not_known_are_those_before() -> None:
    assert curve_of([3, 2, 1, 0], [0, np.nan, 5, np.inf]).x.tolist() == [0, 0, 5, 5]


def test_statistics_say_how_a_curve_was_made() -> None:
    raw = curve_of(noisy(2, 500))
    assert raw.flips == pytest.approx(2 / 3, abs=0.06)
    assert raw.noise == pytest.approx(0.05, rel=0.3)
    assert (raw.grain, raw.repeats, raw.spacing) == (0, 0, 1)
    mean = np.cumsum(falling(9, 2, 500, 0.3)) / np.arange(1, 501)
    assert curve_of(mean.tolist()).flips < 0.3
    printed = curve_of([round(value, 1) for value in noisy(2, 500)])
    assert printed.grain == pytest.approx(0.1)
    assert printed.repeats > 0.2
    assert curve_of([1.0, 2.0], [0, 10]).spacing == 10


def test_evidence_points_to_the_place() -> None:
    curve = curve_of([3.0, 2.0, 1.0], [10, 20, 30])
    assert (curve.evidence(1).ref, curve.evidence(1).quote) == ("loss@20", "2")
    assert (curve.evidence(0, 2).ref, curve.evidence(0, 2).quote) == ("loss@10..30", "3 -> 1")
    assert curve.remark("odd").ref == "loss"


SHAPES = st.lists(
    st.tuples(
        st.floats() | st.sampled_from([2.0, 2.0, 1.9, np.nan, np.inf, 1e308]),
        st.integers(0, 40) | st.sampled_from([np.nan, np.inf]),
    ),
    max_size=80,
)


@given(points=SHAPES, cuts=st.lists(st.integers(0, 80), max_size=5))
def test_cuts_change_nothing(points: list[tuple[float, float]], cuts: list[int]) -> None:
    values, steps = [p[0] for p in points], [p[1] for p in points]
    run = make_run({"loss": []})
    grown = RunView(run)
    edges = [0, *sorted(min(cut, len(points)) for cut in cuts), len(points)]
    for start, stop in pairwise(edges):
        extend(run, {"loss": values[start:stop]}, steps[start:stop])
        grown.update()
        for curve in grown.all_curves():
            assert isinstance(curve.excursions, list)
    whole = RunView(make_run({"loss": values}, steps))
    assert described(grown) == described(whole)


def described(view: RunView) -> list[str]:
    return [
        repr((c.name, c.axis_name, c.x, c.y, c.restarts, c.is_interleaved, c.excursions, c.flips))
        for c in view.all_curves()
    ]


def test_an_update_costs_the_new_points_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run({"loss": noisy(2, 5000)})
    view = RunView(run)
    curve = view.curve("train/loss")
    assert curve is not None
    assert len(curve.excursions) == 0
    added: list[int] = []
    real = Curve._add

    def count(self: Curve, raw: Any, x: Any, y: Any) -> None:
        added.append(len(y))
        real(self, raw, x, y)

    monkeypatch.setattr(Curve, "_add", count)
    extend(run, {"loss": noisy(2, 7, seed=2)})
    view.update()
    assert view.curve("train/loss") is curve
    assert added == [7]
    assert len(curve) == 5007


def test_a_file_that_is_replaced_gives_new_curves() -> None:
    run: Run = make_run({"loss": [3.0, 2.0, 1.0]})
    view = RunView(run)
    run.start_generation(0, replaces=True)
    extend(run, {"loss": [9.0, 8.0]})
    view.update()
    curve = view.curve("train/loss")
    assert curve is not None
    assert curve.y.tolist() == [9, 8]

"""Levels, windows and places where runs part."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.comparison.measuring import Measured, measure
from mltd.sessions.comparison.pairs import Pair
from tests.analyzers.made import make_run, read_log

from .made import Values, change_of, curve, judged


def measured(
    before: Values | list[float],
    after: Values | list[float],
    steps: tuple[Sequence[float], Sequence[float]] | None = None,
    name: str = "train_loss",
    onset: float | None = None,
    at_end: bool = False,
) -> Measured:
    places = steps or (range(len(before)), range(len(after)))
    runs = [
        make_run({name: list(map(float, y))}, steps=x)
        for y, x in zip((before, after), places, strict=True)
    ]
    pair = Pair(runs[0].series[0], runs[1].series[0], is_primary=True)
    return measure(pair, onset=onset, at_end=at_end)


# -- windows ---------------------------------------------------------------------------------


def test_the_window_is_the_last_tenth_of_what_both_have_reached() -> None:
    change = measured(curve(2.0, 1000), curve(2.0, 500)).change
    assert change.axis == "step"
    assert change.window == (450.0, 499.0)
    assert change.points == (50, 50)


def test_early_steps_are_never_compared_with_late_ones() -> None:
    falling = [10.0 - 0.009 * k for k in range(1000)]
    change = measured(falling, falling[:100]).change
    assert change.before == pytest.approx(change.after)


def test_few_points_are_taken_from_the_last_half_at_most() -> None:
    change = measured(curve(2.0, 20), curve(2.0, 20)).change
    assert change.window == (10.0, 19.0)
    assert change.low is not None


def test_three_points_give_values_but_no_interval_and_say_what_is_missing() -> None:
    change = measured([3.0, 2.5, 2.2], [3.0, 2.0, 1.5]).change
    assert (change.before, change.after) == (2.2, 1.5)
    assert (change.low, change.high, change.needed) == (None, None, 7)


def test_runs_that_log_at_other_steps_are_read_at_the_same_one() -> None:
    dense, sparse = list(range(0, 1001, 2)), list(range(0, 1001, 7))
    falling = [[5 - 0.004 * x for x in steps] for steps in (dense, sparse)]
    change = measured(falling[0], falling[1], (dense, sparse)).change
    assert change.change == pytest.approx(0.0, abs=1e-9)


def test_what_a_resumed_run_wrote_again_counts_once() -> None:
    again = [*range(300), *range(200, 400)]
    values = [9.0] * 300 + [2.0] * 200
    change = measured([2.0] * 400, values, (list(range(400)), again)).change
    assert (change.before, change.after, change.points) == (2.0, 2.0, (40, 40))


def test_epochs_are_used_where_steps_are_not_shared_and_ends_where_nothing_is() -> None:
    by_epoch = read_log("".join(f"epoch {k} loss {3 - k * 0.1:.2f}\n" for k in range(1, 30)))
    both = read_log("".join(f"epoch {k} step {k * 9} loss {3 - k * 0.1:.2f}\n"
                            for k in range(1, 20)))  # fmt: skip
    change = change_of(judged(by_epoch, both), "loss")
    assert change.axis == "epoch"
    assert change.before == pytest.approx(change.after)
    by_step = make_run({"loss": [2.0 + 0.01 * (k % 3) for k in range(100)]})
    last = change_of(judged(by_epoch, by_step), "loss")
    assert (last.axis, last.window) == ("final", None)
    assert last.low is not None


def jumping(count: int, at: int) -> list[float]:
    return [2.0 if k < at else 8.0 for k in range(count)]


def test_a_window_begins_where_the_incident_does_if_that_is_inside_it() -> None:
    change = measured(jumping(20, 12), [2.0] * 20, onset=12.0).change
    assert (change.window, change.points) == ((12.0, 19.0), (8, 8))
    assert (change.before, change.after, change.change) == (8.0, 2.0, -0.75)
    assert measured(jumping(20, 12), [2.0] * 20).change.window == (10.0, 19.0)


def test_it_does_not_if_too_few_points_are_left_or_the_incident_is_elsewhere() -> None:
    for onset in (16.0, 3.0, 10.0, 400.0):
        change = measured(jumping(20, 16), [2.0] * 20, onset=onset).change
        assert change.window == (10.0, 19.0)


def test_a_window_begins_where_the_metric_was_lost() -> None:
    lost = [2.0] * 13 + [math.nan] * 7
    assert measured(lost, [2.0] * 20).change.window == (13.0, 19.0)


def test_the_ends_of_both_runs_can_be_compared_however_far_they_went() -> None:
    rising = [2.0 + 0.01 * k for k in range(400)]
    change = measured(rising, rising[:100], at_end=True).change
    assert (change.axis, change.window, change.parts_at) == ("final", None, None)
    assert change.before == pytest.approx(2.0 + 0.01 * 379.5, rel=0.01)
    assert change.after == pytest.approx(2.0 + 0.01 * 89.5, rel=0.01)
    differing = measured(curve(2.0), curve(1.5, seed=1), at_end=True).change
    assert (differing.axis, differing.parts_at) == ("final", None)


# -- levels ----------------------------------------------------------------------------------


def test_a_change_has_its_interval_and_its_size_in_noise() -> None:
    change = measured(curve(2.0), curve(1.6, seed=1)).change
    assert change.change == pytest.approx(-0.2, abs=0.02)
    assert change.low is not None
    assert change.high is not None
    assert change.low < (change.change or 0.0) < change.high < -0.15
    assert change.effect == pytest.approx(-8, abs=2)


def test_odd_batches_do_not_decide() -> None:
    odd = curve(2.0)
    odd[[930, 960]] = 500.0
    change = measured(curve(2.0, seed=1), odd).change
    assert change.after == pytest.approx(2.0, abs=0.05)
    assert change.low is not None
    assert change.low > -0.05


def test_huge_values_are_compared_as_small_ones_are() -> None:
    small = measured(curve(2.0), curve(1.6, seed=1)).change
    huge = measured(curve(2.0) * 1e307, curve(1.6, seed=1) * 1e307).change
    assert (huge.change, huge.low) == pytest.approx((small.change, small.low))
    assert huge.after == pytest.approx(1.6e307, rel=0.05)


def test_constants_differ_by_exactly_what_they_differ() -> None:
    change = measured([10.0] * 50, [12.0] * 50, name="gpu_mem").change
    assert (change.change, change.low, change.high) == (0.2, 0.2, 0.2)
    assert change.effect is None
    same = measured([10.0] * 50, [10.0] * 50).change
    assert (same.change, same.low, same.high) == (0.0, 0.0, 0.0)


def test_a_relative_change_of_nothing_is_none() -> None:
    random = np.random.default_rng(0)
    around_zero, above = random.normal(0, 1, 500), random.normal(5, 1, 500)
    for before in (np.zeros(500), around_zero):
        one = measured(before, above, name="reward")
        assert (one.change.change, one.change.low) == (None, None)
        assert one.gain is not None
        assert one.gain.is_absolute
        assert one.gain.low is not None
        assert one.gain.low > 0.5


def test_negative_values_get_better_upwards_too() -> None:
    one = measured(curve(-8.0), curve(-6.0, seed=1), name="reward")
    assert one.change.change == pytest.approx(0.25, abs=0.02)
    assert one.gain is not None
    assert one.gain.value > 0


def test_a_gap_is_between_the_worst_value_after_and_the_best_before() -> None:
    apart = measured([4.0, 5.0] * 10, [1.0, 2.0] * 10).gain
    assert apart is not None
    assert apart.gap == pytest.approx((4.0 - 2.0) / 4.5, rel=0.01)
    for name, before, after in (
        ("train_loss", [1.0, 2.0], [4.0, 5.0]),
        ("train_loss", [4.0, 1.0], [2.0, 0.5]),
    ):
        gain = measured(before * 10, after * 10, name=name).gain
        assert gain is not None
        assert gain.gap == 0.0
    larger = measured([1.0, 2.0] * 10, [4.0, 5.0] * 10, name="accuracy").gain
    assert larger is not None
    assert larger.gap > 1.0


def test_a_metric_that_ends_in_nan_has_no_level() -> None:
    lost = curve(2.0)
    lost[-1] = math.nan
    assert math.isnan(measured(lost, curve(2.0)).change.before or 0.0)
    now_and_then = curve(2.0)
    now_and_then[::7] = math.inf
    assert measured(now_and_then, curve(2.0), name="grad_norm").change.before == pytest.approx(
        2.0, abs=0.05
    )


# -- parting ---------------------------------------------------------------------------------


def test_runs_of_one_seed_part_where_they_first_differ() -> None:
    before = curve(2.0)
    after = before.copy()
    after[400:] -= np.linspace(0.001, 0.5, 600)
    assert measured(before, after).change.parts_at == 400.0


def test_equal_runs_and_runs_that_differ_by_noise_never_part() -> None:
    assert measured(curve(2.0), curve(2.0)).change.parts_at is None
    places = [measured(curve(2.0, seed=2 * k), curve(2.0, seed=2 * k + 1)).change.parts_at
              for k in range(20)]  # fmt: skip
    assert sum(place is not None for place in places) <= 3


def test_other_runs_part_where_the_difference_leaves_the_noise_for_good() -> None:
    before, after = curve(2.0, fall=0.0), curve(2.0, seed=1, fall=0.0)
    after[150:250] += 0.4  # a bump that heals
    after[600:] -= 0.3
    parts_at = measured(before, after).change.parts_at
    assert parts_at is not None
    assert 560 <= parts_at <= 640


def test_the_place_of_parting_is_one_where_a_point_is() -> None:
    steps = list(range(0, 4000, 30))
    before = curve(2.0, len(steps), fall=0.0)
    after = curve(2.0, len(steps), seed=1, fall=0.0)
    after[70:] -= 0.5
    parts_at = measured(before, after, (steps, steps)).change.parts_at
    assert parts_at in steps


def test_a_run_that_is_lost_parts_there() -> None:
    lost = curve(2.0)
    lost[700:] = math.nan
    assert measured(curve(2.0, seed=1), lost).change.parts_at == 700.0


# -- anything --------------------------------------------------------------------------------

values = st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=60)


@given(values, values, st.sampled_from(["train_loss", "reward", "lr"]))
def test_any_two_series_can_be_measured(first: list[float], second: list[float], name: str) -> None:
    change = measured(first, second, name=name).change
    for number in (change.change, change.low, change.high, change.effect):
        assert number is None or math.isfinite(number)
    if change.low is not None and change.high is not None:
        assert change.low <= change.high

"""Excursions: where a series leaves its range, found the same way however it grows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.excursions import SETTLES, ExcursionScan
from mltd.analyzers.core.grain import grain
from mltd.runs.harvest import Floats
from tests.analyzers.made import noisy


def scan(values: Any, cuts: tuple[int, ...] = ()) -> ExcursionScan:
    data: Floats = np.asarray(values, dtype=np.float64)
    found = ExcursionScan(grain=grain)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, stop in pairwise(edges):
        found.extend(data[start:stop])
    return found


def test_a_spike_has_a_place_a_height_and_an_end() -> None:
    values = [*noisy(2, 100), 6, 8, 5, *noisy(2, 50)]
    (spike,) = scan(values).found
    assert (spike.start, spike.peak, spike.peak_at, spike.end) == (100, 8, 101, 103)
    assert spike.points == 3
    assert spike.baseline == pytest.approx(2, abs=0.05)
    assert spike.deviations > 50


def test_noise_and_descent_are_no_excursions() -> None:
    assert scan(noisy(2, 3000)).found == []
    falls = np.linspace(9, 1, 3000) + np.asarray(noisy(0, 3000))
    assert scan(falls).found == []


def test_a_level_that_stays_has_no_end() -> None:
    (rise,) = scan(noisy(2, 100) + noisy(9, SETTLES + 100)).found
    assert rise.end is None
    assert rise.start == 100


def test_points_that_are_not_finite_are_counted_inside() -> None:
    (spike,) = scan([*noisy(2, 60), 9, np.nan, np.inf, 9, *noisy(2, 20)]).found
    assert (spike.bad, spike.points) == (2, 2)


def test_the_grain_of_printed_digits_is_no_deviation() -> None:
    # 0.12 and 0.13 are neighbours: one step of the last digit stands out of a constant otherwise.
    values = [0.12] * 60 + [0.13] * 2 + [0.12] * 60 + [0.13] * 2 + [0.12] * 60
    found = scan(values).found
    assert all(spike.start < 128 for spike in found)
    assert scan([*values, 0.9, 0.9, 0.9, *values]).found[-1].peak == 0.9


def test_a_constant_with_rounding_noise_has_none() -> None:
    values = 1e6 + 1e-9 * np.arange(300) % 3
    assert scan(values).found == []


@given(
    values=st.lists(
        st.floats(width=32) | st.sampled_from([2.0, 2.1, 1.9, np.nan, np.inf, 1e308, -1e308]),
        max_size=90,
    ),
    tail=st.integers(0, 900),
    cuts=st.lists(st.integers(0, 1000), max_size=6),
)
def test_cuts_change_nothing(values: list[float], tail: int, cuts: list[int]) -> None:
    data = [*noisy(2, tail), *values, *noisy(2, 30)]
    assert repr(scan(data).found) == repr(scan(data, tuple(cuts)).found)

"""Where a rise began: jumps and bends among noise, and nothing where nothing rises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.hinge import is_raised, rise_begins


def noise(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(5).normal(0, 0.05, count)


@pytest.mark.parametrize("place", [20, 60, 100])
def test_a_jump_begins_at_its_first_point(place: int) -> None:
    assert rise_begins(np.where(np.arange(120) < place, 1.0, 1.5) + noise(120)) == place


@pytest.mark.parametrize("place", [60, 100, 140])
def test_a_climb_begins_long_before_it_leaves_the_noise(place: int) -> None:
    values = 1 + 0.005 * np.maximum(0, np.arange(200) - place) + noise(200)
    assert rise_begins(values) == pytest.approx(place, abs=12)


def test_a_fall_that_turns_into_a_climb_turns_where_it_turned() -> None:
    assert rise_begins(np.abs(np.arange(200.0) - 120)) == pytest.approx(120, abs=1)


def test_many_points_are_told_to_a_few_of_them() -> None:
    values = 1 + 0.0001 * np.maximum(0, np.arange(20_000) - 8_000) + noise(20_000)
    assert rise_begins(values) == pytest.approx(8_000, abs=300)


@pytest.mark.parametrize("values", [np.empty(0), np.ones(5), np.full(40, np.nan)])
def test_too_little_has_no_beginning(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    assert rise_begins(values) is None


def test_what_is_not_finite_is_passed_over() -> None:
    values = np.where(np.arange(120) < 60, 1.0, 1.5)
    values[30:40] = np.nan
    assert rise_begins(values) == 60


@given(st.lists(st.floats(width=64), max_size=300))
def test_no_values_break_it(values: list[float]) -> None:
    place = rise_begins(np.array(values, dtype=np.float64))
    assert place is None or 0 < place < len(values)


def test_only_points_above_those_before_are_raised() -> None:
    assert is_raised(1 + noise(40), 1.2 + noise(10))
    assert not is_raised(1 + noise(40), 1 + noise(40)[:10])
    assert not is_raised(np.empty(0), np.ones(3))

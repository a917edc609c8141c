"""A course of numbers in a few characters."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mltd.tui.sparkline import BAD, BARS, sparkline

numbers = st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=60)


@given(numbers, st.integers(min_value=-2, max_value=40))
def test_any_numbers_fit_their_width(values: list[float], width: int) -> None:
    drawn = sparkline(values, width)
    assert len(drawn) == max(0, min(width, len(values)))
    assert set(drawn) <= set(BARS + BAD)


def test_a_falling_course_falls() -> None:
    assert sparkline([8, 7, 6, 5, 4, 3, 2, 1], 8) == "█▇▆▅▄▃▂▁"


def test_a_flat_course_is_flat() -> None:
    assert len(set(sparkline([2.0] * 5, 5))) == 1


def test_what_is_not_finite_is_marked_and_does_not_flatten_the_rest() -> None:
    assert sparkline([1.0, 2.0, math.inf, math.nan, 8.0], 5) == f"▁▂{BAD}{BAD}█"


def test_one_bad_value_is_seen_however_much_is_squeezed() -> None:
    assert sparkline([1.0] * 50 + [math.nan] + [1.0] * 49, 10).count(BAD) == 1


def test_a_course_over_many_decades_is_drawn_by_its_logarithm() -> None:
    assert sparkline([1e-6, 1e-4, 1e-2, 1.0], 4) == "▁▃▆█"

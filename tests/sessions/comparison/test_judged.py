"""How many more points it takes: a number that can be said, whatever the values are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.comparison.judged import more_points

ANY = st.floats(allow_nan=True, allow_infinity=True)


@given(st.integers(0, 10**9), ANY, ANY)
def test_every_interval_has_an_answer(points: int, reach: float, wanted: float) -> None:
    assert 1 <= more_points(points, reach, wanted) <= 100_000


@pytest.mark.parametrize(
    ("reach", "wanted", "needed"),
    [(2.0, 1.0, 300), (1.0, 2.0, 1), (1e308, 1.0, 100_000), (1e308, 5e-324, 100_000)],
)
def test_an_interval_shrinks_with_the_root_of_the_points(
    reach: float, wanted: float, needed: int
) -> None:
    assert more_points(100, reach, wanted) == needed

"""Bins: a few thousand numbers stand for a series of any length, however it grew."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.bins import CAPACITY, Bins
from mltd.runs.harvest import Floats


def fill(values: Floats, cuts: list[int]) -> Bins:
    bins = Bins()
    x = np.arange(len(values), dtype=np.float64)
    edges = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    for start, stop in pairwise(edges):
        bins.add(x[start:stop], values[start:stop])
    return bins


def test_a_short_series_is_kept_point_by_point() -> None:
    values = np.array([3.0, np.nan, 1.0])
    first, last, mean, low, high, counts = fill(values, []).arrays
    assert first.tolist() == last.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(mean, values)
    np.testing.assert_array_equal(low, values)
    np.testing.assert_array_equal(high, values)
    assert counts.tolist() == [1, 0, 1]


def test_a_long_series_is_merged_and_nothing_is_lost() -> None:
    values = np.random.default_rng(0).normal(5, 1, 100_003)
    values[70_000] = 99.0
    values[10:2000:7] = np.nan
    bins = fill(values, [])
    first, last, mean, low, high, counts = bins.arrays
    assert len(mean) <= 2 * CAPACITY + 1
    assert bins.width == 32
    assert counts.sum() == np.isfinite(values).sum()
    assert (np.nanmax(high), np.nanmin(low)) == (99.0, np.nanmin(values))
    assert (first[0], last[-1]) == (0, 100_002)
    known = counts > 0
    np.testing.assert_allclose((mean * counts)[known].sum(), np.nansum(values))


@given(
    size=st.sampled_from([0, 1, 7, CAPACITY, 4 * CAPACITY - 1, 4 * CAPACITY, 9 * CAPACITY + 5]),
    cuts=st.lists(st.integers(0, 9 * CAPACITY), max_size=8),
)
def test_cuts_change_nothing(size: int, cuts: list[int]) -> None:
    values = np.sin(np.arange(size, dtype=np.float64))
    whole, grown = fill(values, []), fill(values, cuts)
    assert whole.width == grown.width
    for one, other in zip(whole.arrays, grown.arrays, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_huge_values_and_infinities_do_not_warn() -> None:
    values = np.tile([1e308, -1e308, np.inf, np.nan], 3000)
    _, _, _, low, high, counts = fill(values, [5, 5000]).arrays
    assert (low.min(), high.max()) == (-1e308, 1e308)
    assert counts.sum() == 6000

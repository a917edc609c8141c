from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Column, ColumnKey, Harvest
from mltd.runs.shelves import Shelved, Shelves


def harvest(count: int) -> Harvest:
    """One column with as many values."""
    rows = np.arange(count)
    return Harvest(
        rows + 1, {"step": rows.astype(np.float64)}, [Column(ColumnKey("loss"), rows, rows / 7)]
    )


def test_what_is_put_on_a_shelf_is_taken_from_it() -> None:
    shelves = Shelves(2, 1 << 16)
    put = {shelf: shelves.put(shelf, [harvest(5 + shelf), harvest(0)]) for shelf in (0, 1)}
    for shelf, shelved in put.items():
        assert isinstance(shelved, Shelved)
        first, second = shelves.take(shelved)
        np.testing.assert_array_equal(first.columns[0].values, np.arange(5 + shelf) / 7)
        np.testing.assert_array_equal(first.axes["step"], np.arange(5 + shelf))
        assert len(second.line) == 0
    shelves.close()


def test_what_was_taken_stays_when_the_shelf_is_used_again() -> None:
    shelves = Shelves(1, 1 << 16)
    first = shelves.put(0, [harvest(100)])
    assert isinstance(first, Shelved)
    (taken,) = shelves.take(first)
    shelves.put(0, [harvest(3)])
    shelves.close()
    np.testing.assert_array_equal(taken.columns[0].values, np.arange(100) / 7)


def test_harvests_that_are_too_large_are_handed_over_as_they_are() -> None:
    shelves = Shelves(1, 1000)
    large = [harvest(1000)]
    assert shelves.put(0, large) is large
    shelves.close()


def test_a_shelf_is_reserved_once_until_it_is_free() -> None:
    shelves = Shelves(1, 10)
    assert shelves.reserve() == 0
    assert shelves.reserve() is None
    shelves.free(0)
    assert shelves.reserve() == 0
    shelves.close()

"""Python numbers into arrays: exactly as many as there should be, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mltd.runs.packing import pack_floats


def test_whole_and_broken_numbers_become_floats() -> None:
    packed = pack_floats(iter([1, 0.1, -(2**53)]), 3)
    assert packed.dtype == np.float64
    assert packed.tolist() == [1.0, 0.1, -9007199254740992.0]


@pytest.mark.parametrize(
    ("numbers", "count"),
    [([1.0], 2), ([1.0, 2.0], 1), (["1.0"], 1), ([None], 1), ([[1.0]], 1), ([10**400], 1)],
)
def test_anything_else_is_refused(numbers: list[Any], count: int) -> None:
    with pytest.raises(ValueError, match=r".+"):
        pack_floats(numbers, count)

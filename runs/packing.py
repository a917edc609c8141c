"""Python numbers into arrays, as fast as the interpreter allows."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from .harvest import Floats


def pack_floats(numbers: Iterable[float], count: int) -> Floats:
    """An array of exactly `count` numbers; ValueError if there are more, fewer or others."""
    values = np.empty(count)
    try:
        # About twice as fast as `np.array` or `np.fromiter`.
        struct.pack_into(f"{count}d", values.data, 0, *numbers)
    except (struct.error, OverflowError) as error:
        raise ValueError(str(error)) from None
    return values

"""What is known about one saved tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_TENSORS = 200_000
MOST_DIMENSIONS = 64
MOST_ELEMENTS = 2**60


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Name, shape and element type; the values are never read."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    storage: str = ""
    """Tensors with the same storage share their values: tied weights."""

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


def checked_shape(shape: object) -> tuple[int, ...] | None:
    """A shape as it can be, None for what no tensor has."""
    if not isinstance(shape, list | tuple) or len(shape) > MOST_DIMENSIONS:
        return None
    sizes = tuple(size for size in shape if isinstance(size, int) and not isinstance(size, bool))
    if len(sizes) != len(shape) or any(not 0 <= size < MOST_ELEMENTS for size in sizes):
        return None
    return sizes if math.prod(sizes) < MOST_ELEMENTS else None

"""Growing numpy columns that cost their size once, not twice."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", np.float64, np.int64, np.int32)
_FIRST = 64
_LARGE = 1 << 20
"""Values up to which a column doubles; a larger one grows by a quarter, to spare memory."""


class GrowingColumn(Generic[Number]):
    """An append-only array; `view()` is the filled part."""

    def __init__(self, dtype: type[Number]) -> None:
        self._data: npt.NDArray[Number] = np.empty(0, dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        """Count the values."""
        return self._count

    def extend(self, values: npt.NDArray[Number]) -> None:
        """Append many values; amortised constant cost each."""
        needed = self._count + len(values)
        if needed > len(self._data):
            spare = self._count if self._count < _LARGE else self._count // 4
            self._grow(max(needed, _FIRST, self._count + spare))
        self._data[self._count : needed] = values
        self._count = needed

    def _grow(self, capacity: int) -> None:
        try:
            # In place: the kernel moves pages instead of our copying them. Refused by numpy
            # while somebody holds a view, and then a copy keeps that view valid.
            self._data.resize(capacity)
        except ValueError:
            data = np.empty(capacity, dtype=self._data.dtype)
            data[: self._count] = self._data[: self._count]
            self._data = data

    def view(self) -> npt.NDArray[Number]:
        """All values so far, read-only, without copying; stays valid when more come."""
        view = self._data[: self._count]
        view.flags.writeable = False
        return view

    @property
    def nbytes(self) -> int:
        """Bytes of the values (not of the spare room)."""
        return self._count * self._data.itemsize

"""Growing numpy columns: cheap to extend, one contiguous array to read."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", np.float64, np.int64, np.int32)
_LARGE = 1 << 16
"""Values up to which a column doubles; a larger one grows by a quarter, to spare memory."""
_MANY_PARTS = 4096


class GrowingColumn(Generic[Number]):
    """An append-only array.

    New values are kept as they come and copied into place when somebody looks: a big file
    that is read at once is copied once, and a live one costs its new values alone. Arrays that
    are handed over must not be changed afterwards.
    """

    def __init__(self, dtype: type[Number]) -> None:
        self._data: npt.NDArray[Number] = np.empty(0, dtype=dtype)
        self._placed = 0
        self._parts: list[npt.NDArray[Number]] = []
        self._count = 0

    def __len__(self) -> int:
        """Count the values."""
        return self._count

    def extend(self, values: npt.NDArray[Number]) -> None:
        """Append many values."""
        if len(values) == 0:
            return
        whole = values.base
        if isinstance(whole, np.ndarray) and whole.nbytes > values.nbytes:
            values = values.copy()  # a slice would keep all of the array it is from
        self._parts.append(values)
        self._count += len(values)
        if len(self._parts) >= _MANY_PARTS:
            self._place()

    def view(self) -> npt.NDArray[Number]:
        """All values so far, read-only; stays valid when more come."""
        if self._parts:
            self._place()
        view = self._data[: self._count]
        view.flags.writeable = False
        return view

    def _place(self) -> None:
        if self._count > len(self._data):
            # A fresh array each time: older views keep theirs.
            spare = self._placed if self._placed < _LARGE else self._placed // 4
            grown = np.empty(max(self._count, self._placed + spare), dtype=self._data.dtype)
            grown[: self._placed] = self._data[: self._placed]
            self._data = grown
        for part in self._parts:
            self._data[self._placed : self._placed + len(part)] = part
            self._placed += len(part)
        self._parts.clear()

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Forget all values but some, and give back their memory; older views stay valid."""
        self._data = self.view()[kept]
        self._placed = self._count = len(self._data)

    @property
    def allocated(self) -> int:
        """Bytes held, with the spare room and with what waits to be put into place."""
        return self._data.nbytes + (self._count - self._placed) * self._data.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the values (not of the spare room)."""
        return self._count * self._data.itemsize

"""Pieces of lines that stay in one buffer until somebody looks at one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from ..harvest import Ints

Codes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def count_newlines(data: bytes) -> int:
    """Lines that end in `data`; several times faster than `bytes.count` where they are short."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))


def cut_out(codes: Codes, starts: Places, width: int) -> Codes:
    """Bytes `start : start + width` for every start, as the rows of a matrix."""
    # Items of `width` bytes that begin at every byte: an item is copied at once, a row is not.
    items = np.ndarray(len(codes) - width + 1, dtype=f"V{width}", buffer=codes, strides=1)
    return items[starts].view(np.uint8).reshape(len(starts), width)


class Pieces(Sequence[bytes]):
    """What stands between the newlines of a buffer."""

    def __init__(self, joined: bytes) -> None:
        self.joined = joined

    @cached_property
    def starts(self) -> Ints:
        """Offset of every piece, and of what would be the next one."""
        newlines = np.flatnonzero(np.frombuffer(self.joined, dtype=np.uint8) == 10)
        return np.concatenate([[0], newlines + 1, [len(self.joined) + 1]])

    def __len__(self) -> int:
        """Count the pieces."""
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[bytes]:
        """All of them, which is faster than one by one."""
        return iter(self.joined.split(b"\n"))

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        """Cut out one piece, or some."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        start, after = self.starts[:-1][index], self.starts[1:][index]
        return self.joined[start : after - 1]

"""Memory that a process shares with its helpers: they put arrays there instead of sending them.

Through a pipe every array is copied four times and cut into small pieces, which costs as much as
a third of reading the text it was made from.
"""

from __future__ import annotations

import mmap
import pickle
from collections.abc import Sequence
from typing import NamedTuple

from .harvest import Harvest


class Shelved(NamedTuple):
    """Harvests whose arrays lie on a shelf."""

    shelf: int
    frame: bytes
    """Everything but the arrays."""
    sizes: tuple[int, ...]
    """Bytes of each array, one behind the other."""


class Shelves:
    """Some places of the same size, to be made before the helpers are forked."""

    def __init__(self, count: int, size: int) -> None:
        self._size = size
        self._memory = mmap.mmap(-1, count * size)
        self._free = list(range(count))

    def reserve(self) -> int | None:
        """A shelf that nobody uses, if there is one."""
        return self._free.pop() if self._free else None

    def put(self, shelf: int, harvests: Sequence[Harvest]) -> Shelved | Sequence[Harvest]:
        """Put the arrays of some harvests on a shelf; gives them back if it is too small."""
        found: list[pickle.PickleBuffer] = []
        frame = pickle.dumps(harvests, 5, buffer_callback=found.append)
        arrays = [one.raw() for one in found]
        if sum(array.nbytes for array in arrays) > self._size:
            return harvests
        place = shelf * self._size
        for array in arrays:
            self._memory[place : place + array.nbytes] = array
            place += array.nbytes
        return Shelved(shelf, frame, tuple(array.nbytes for array in arrays))

    def take(self, shelved: Shelved) -> list[Harvest]:
        """The harvests, in memory of their own."""
        start = shelved.shelf * self._size
        with memoryview(self._memory) as whole, whole[start : start + sum(shelved.sizes)] as used:
            copy = memoryview(bytearray(used))
        arrays, place = [], 0
        for size in shelved.sizes:
            arrays.append(copy[place : place + size])
            place += size
        harvests: list[Harvest] = pickle.loads(shelved.frame, buffers=arrays)
        return harvests

    def free(self, shelf: int) -> None:
        """Let others use a shelf."""
        self._free.append(shelf)

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()

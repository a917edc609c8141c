"""What a checkpoint is made of, whoever read it: dicts, lists, plain values and leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from ...name_text import escape_undecodable
from ..errors import DamagedCheckpoint
from .dtypes import RAW, Array, decoded
from .handle import Handle

Node: TypeAlias = object
"""dict[str, Node], list[Node], Leaf, Opaque, str, int, float, bool or None."""
SHORT = 80


class Source(Protocol):
    """Where the values of a tensor come from."""

    def blocks(self, count: int) -> Iterator[Array]:
        """The elements in order, at most so many at a time, as `dtypes.RAW` says."""


@dataclass(eq=False, slots=True)
class Leaf:
    """A tensor; without a source its values cannot be had."""

    shape: tuple[int, ...]
    dtype: str
    bytes: int
    storage: str = ""
    """Equal for tensors that begin at the same place of the same storage."""
    source: Source | None = None
    file: str = ""

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    def number(self) -> float | None:
        """The value of a tensor with one element."""
        if self.elements != 1 or self.source is None or self.dtype not in RAW:
            return None
        for block in self.source.blocks(1):
            return float(decoded(block, self.dtype).ravel()[0])
        return None


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that is no tensor and no plain value."""

    kind: str


@dataclass(slots=True)
class FileSource:
    """Elements that lie one after the other in a file."""

    handle: Handle
    offset: int
    elements: int
    raw: str
    is_swapped: bool = False
    """The file was written by a machine with the other byte order."""

    def blocks(self, count: int) -> Iterator[Array]:
        """Read block by block into memory that is used again."""
        dtype = np.dtype(self.raw)
        size = dtype.itemsize
        place, left = self.offset, self.elements
        while left:
            taken = min(count, left)
            data = self.handle.read(taken * size, place)
            if len(data) < taken * size:
                raise DamagedCheckpoint(
                    f"{self.handle.name} is cut off: values are missing at its end",
                    hint="it may be half written",
                )
            block: Array = np.frombuffer(data, dtype)
            yield block.byteswap() if self.is_swapped else block
            place += taken * size
            left -= taken


def text(value: object, most: int = 300) -> str:
    """Any key or value as text that can be written as UTF-8, and not too long."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a very large number"
    return escape_undecodable(str(value)[:most])

"""Tensors of torch files as leaves: each is a view of a stretch of the file."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import DamagedCheckpoint
from ..stored_tensor import StoredTensor
from .dtypes import RAW, Array, item_bytes
from .handle import Handle
from .leaf import FileSource, Leaf


@dataclass(slots=True)
class StridedSource:
    """Elements of a transposed or otherwise scattered tensor, in its own order."""

    handle: Handle
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    raw: str
    is_swapped: bool

    def blocks(self, count: int) -> Iterator[Array]:
        """Gather a few slices at a time."""
        dtype = np.dtype(self.raw)
        with mmap.mmap(self.handle.descriptor, 0, access=mmap.ACCESS_READ) as mapped:
            steps = tuple(step * dtype.itemsize for step in self.strides)
            view: Array = np.ndarray(self.shape, dtype, mapped, self.offset, steps)
            rows = max(1, count * self.shape[0] // max(1, math.prod(self.shape)))
            for first in range(0, self.shape[0], rows):
                flat = np.array(view[first : first + rows], order="C").reshape(-1)
                for place in range(0, len(flat), count):
                    block = flat[place : place + count]
                    yield block.byteswap() if self.is_swapped else block
            del view


def leaf_of(
    tensor: StoredTensor,
    handle: Handle,
    stretch: tuple[int, int] | None,
    *,
    is_swapped: bool = False,
) -> Leaf:
    """The leaf for a tensor in a storage whose place and length in the file are known."""
    size = item_bytes(tensor.dtype)
    count = math.prod(tensor.shape)
    storage = f"{handle.name}:{tensor.storage}@{tensor.offset}" if tensor.storage else ""
    leaf = Leaf(tensor.shape, tensor.dtype, count * size, storage, file=handle.name)
    if stretch is None or not size:
        return leaf
    start, length = stretch
    strides = tensor.strides if tensor.strides is not None else contiguous(tensor.shape)
    if len(strides) != len(tensor.shape):
        raise DamagedCheckpoint(f"{handle.name}: the strides of a tensor make no sense")
    reach = sum((n - 1) * step for n, step in zip(tensor.shape, strides, strict=True))
    if count and (tensor.offset + reach + 1) * size > length:
        raise DamagedCheckpoint(
            f"{handle.name}: a tensor reaches beyond the end of its values",
            hint="it may be half written",
        )
    offset = start + tensor.offset * size
    raw = RAW[tensor.dtype]
    if not count or _is_in_order(tensor.shape, strides):
        leaf.source = FileSource(handle, offset, count, raw, is_swapped)
    elif count * size <= length:
        leaf.source = StridedSource(handle, offset, tensor.shape, strides, raw, is_swapped)
    # Else one value is shown many times over: there is nothing in it that is not elsewhere.
    return leaf


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor whose elements lie one after the other."""
    steps: list[int] = []
    step = 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(1, size)
    return tuple(reversed(steps))


def _is_in_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    return all(
        size == 1 or step == wanted
        for size, step, wanted in zip(shape, strides, contiguous(shape), strict=True)
    )

"""Files of torch.save before version 1.6: five pickles, then the storages one after the other."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from ..errors import DamagedCheckpoint
from ..inert_pickle import PickleProblem, read_with_names
from ..limits import Limits
from ..stored_tensor import StoredTensor
from .allowed_globals import check_globals
from .dtypes import item_bytes
from .handle import Handle
from .inert_node import InertNode
from .leaf import Leaf
from .loaded import Loaded
from .storages import leaf_of
from .torch_archive import MOST_OPCODES

MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19"
"""How they begin: a pickled magic number."""
_LONGEST_LINE = 1 << 20


def read_legacy(handle: Handle, limits: Limits) -> Loaded:
    """The whole description; values stay in the file until they are asked for."""
    waiting: list[tuple[StoredTensor, Leaf]] = []

    def later(tensor: StoredTensor) -> Leaf:
        """Where values lie is known only after all of the description."""
        waiting.append((tensor, Leaf((), "", 0)))
        return waiting[-1][1]

    try:
        with os.fdopen(os.dup(handle.descriptor), "rb") as file:
            stream = _Bounded(file, handle.size)
            for _ in range(2):
                read_with_names(stream, 100)
            system, _ = read_with_names(stream, 10_000)
            saved, names = read_with_names(stream, MOST_OPCODES)
            check_globals(names, handle.name)
            node = InertNode(later, limits.most_tensors).of(saved)
            keys, _ = read_with_names(stream, MOST_OPCODES)
            start = stream.tell()
    except PickleProblem as problem:
        raise DamagedCheckpoint(
            f"{handle.name}: {problem}", hint="it may be half written"
        ) from None
    is_big = isinstance(system, dict) and system.get("little_endian") is False
    places = _places(handle, keys, {tensor.storage: tensor for tensor, _ in waiting}, start)
    for tensor, leaf in waiting:
        found = leaf_of(tensor, handle, places.get(tensor.storage), is_swapped=is_big)
        leaf.shape, leaf.dtype, leaf.bytes = found.shape, found.dtype, found.bytes
        leaf.storage, leaf.source, leaf.file = found.storage, found.source, found.file
    return Loaded(node, "torch legacy", handle)


class _Bounded:
    """A stream that is never asked for more than is there: what is asked for is allocated."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size
        file.seek(0)

    def read(self, count: int, /) -> bytes:
        return self._file.read(max(0, min(count, self._size - self._file.tell())))

    def readline(self) -> bytes:
        return self._file.readline(_LONGEST_LINE)

    def tell(self) -> int:
        return self._file.tell()


def _places(
    handle: Handle, keys: object, users: dict[str, StoredTensor], start: int
) -> dict[str, tuple[int, int]]:
    """Where each storage begins, and its bytes."""
    places: dict[str, tuple[int, int]] = {}
    for key in keys if isinstance(keys, list) else []:
        tensor = users.get(str(key)[:80]) if isinstance(key, str | int) else None
        size = item_bytes(tensor.storage_kind or "uint8") if tensor is not None else 0
        head = handle.read(8, start)
        if tensor is None or not size or len(head) < 8:
            break
        count = int(struct.unpack("<q", head)[0])
        if count < 0 or start + 8 + count * size > handle.size:
            raise DamagedCheckpoint(
                f"{handle.name} is cut off: values are missing", hint="it may be half written"
            )
        places[tensor.storage] = (start + 8, count * size)
        start += 8 + count * size
    if len(places) < len({key for key in users if key}):
        raise DamagedCheckpoint(
            f"{handle.name} is cut off: values are missing", hint="it may be half written"
        )
    return places

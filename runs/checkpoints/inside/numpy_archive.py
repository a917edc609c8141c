"""An .npz archive: arrays by name, unpacked as they are looked at; objects stay closed."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib import format as npy

from ..errors import DamagedCheckpoint
from ..limits import Limits
from ..torch_zip import opened_archive
from .dtypes import RAW, Array
from .handle import Handle
from .leaf import Leaf, Node, Opaque, text
from .loaded import Loaded

MOST_HEADER = 10_000


def read_numpy_archive(handle: Handle, limits: Limits) -> Loaded:
    """The arrays of the archive."""
    node: dict[str, Node] = {}
    with (
        os.fdopen(os.dup(handle.descriptor), "rb") as file,
        opened_archive(file, handle.name) as archive,
    ):
        entries = [e for e in archive.infolist() if e.filename.endswith(".npy")]
        for entry in entries[: limits.most_tensors]:
            node[text(entry.filename.removesuffix(".npy"))] = _leaf(archive, entry, handle)
    return Loaded(node, "numpy", handle)


def _leaf(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, handle: Handle) -> Node:
    with archive.open(entry) as stream:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = read(stream, max_header_size=MOST_HEADER)
        skipped = stream.tell()
    if dtype.hasobject or dtype.name not in RAW:
        return Opaque(f"array of {dtype.name}"[:80])
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if size + skipped != entry.file_size:
        raise DamagedCheckpoint(f"{handle.name}: {entry.filename[:80]} does not have its size")
    leaf = Leaf(tuple(map(int, shape)), dtype.name, size, file=handle.name)
    if not is_fortran or len(shape) < 2:
        leaf.source = _ZipSource(handle, entry.filename, skipped, dtype)
    return leaf


@dataclass(slots=True)
class _ZipSource:
    handle: Handle
    entry: str
    skipped: int
    dtype: np.dtype[np.generic]

    def blocks(self, count: int) -> Iterator[Array]:
        """Unpack block by block."""
        name = self.handle.name
        with (
            os.fdopen(os.dup(self.handle.descriptor), "rb") as file,
            opened_archive(file, name) as archive,
            archive.open(self.entry) as stream,
        ):
            stream.read(self.skipped)
            while data := stream.read(count * self.dtype.itemsize):
                if len(data) % self.dtype.itemsize:
                    raise DamagedCheckpoint(f"{name} is cut off")
                block: Array = np.frombuffer(data, self.dtype)
                yield block.astype(self.dtype.newbyteorder("="))

"""Files of torch.save since version 1.6: an archive of a pickle and storages."""

from __future__ import annotations

import os
import struct
import zipfile

from ...errors import FormatError
from ..errors import DamagedCheckpoint
from ..inert_pickle import PickleProblem, read_with_names
from ..limits import Limits
from ..stored_tensor import StoredTensor
from ..torch_zip import description, opened_archive
from .allowed_globals import check_globals
from .handle import Handle
from .inert_node import InertNode
from .leaf import Leaf
from .loaded import Loaded
from .storages import leaf_of

MOST_PICKLE = 128_000_000
MOST_OPCODES = 30_000_000
"""Bytes and instructions of the description; time and memory have their own limits."""
_LOCAL = struct.Struct("<4s22xHH")


def read_archive(handle: Handle, limits: Limits) -> Loaded:
    """The whole description; values stay in the file until they are asked for."""
    with (
        os.fdopen(os.dup(handle.descriptor), "rb") as file,
        opened_archive(file, handle.name) as archive,
    ):
        records = Records(archive, handle)
        data = description(archive, handle.name, MOST_PICKLE)
    try:
        saved, names = read_with_names(data, MOST_OPCODES)
        check_globals(names, handle.name)
        node = InertNode(records.leaf, limits.most_tensors).of(saved)
    except PickleProblem as problem:
        raise DamagedCheckpoint(f"{handle.name}: {problem}") from None
    return Loaded(node, "torch", handle)


class Records:
    """The storages of an archive, which must lie in it as they are."""

    def __init__(self, archive: zipfile.ZipFile, handle: Handle) -> None:
        self._handle = handle
        self._entries: dict[str, zipfile.ZipInfo] = {}
        self._is_big = False
        claimed = 0
        for entry in archive.infolist():
            folder, _, name = entry.filename.rpartition("/")
            claimed += entry.file_size
            if folder.endswith("/data") or folder == "data":
                self._entries[name] = entry
                if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
                    raise FormatError(
                        f"{handle.name}: its values are compressed, which torch.save never does"
                    )
            elif name == "byteorder" and entry.file_size < 16:
                self._is_big = archive.read(entry).strip() == b"big"
        if claimed > handle.size + (1 << 20):
            raise DamagedCheckpoint(
                f"{handle.name} claims to hold {claimed:,} bytes in {handle.size:,}",
                hint="it is damaged, or made to fill your memory",
            )

    def leaf(self, tensor: StoredTensor) -> Leaf:
        """The leaf for a tensor of the description."""
        entry = self._entries.get(tensor.storage) if tensor.storage else None
        if tensor.storage and entry is None and 0 not in tensor.shape:
            raise DamagedCheckpoint(
                f"{self._handle.name}: the values of a tensor are missing",
                hint="it may be half written",
            )
        stretch = self._stretch(entry) if entry is not None else None
        return leaf_of(tensor, self._handle, stretch, is_swapped=self._is_big)

    def _stretch(self, entry: zipfile.ZipInfo) -> tuple[int, int]:
        head = self._handle.read(_LOCAL.size, entry.header_offset)
        if len(head) < _LOCAL.size or head[:4] != b"PK\x03\x04":
            raise DamagedCheckpoint(f"{self._handle.name}: a record is not where it should be")
        _, name_bytes, extra_bytes = _LOCAL.unpack(head)
        start = entry.header_offset + _LOCAL.size + name_bytes + extra_bytes
        if start + entry.file_size > self._handle.size:
            raise DamagedCheckpoint(
                f"{self._handle.name} is cut off: values are missing", hint="it may be half written"
            )
        return start, entry.file_size

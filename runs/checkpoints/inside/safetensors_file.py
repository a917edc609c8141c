"""A safetensors file: its header, and values read from their places when they are asked for."""

from __future__ import annotations

import struct

import orjson

from ...errors import FormatError
from ..errors import DamagedCheckpoint
from ..limits import Limits
from ..safetensors import MOST_HEADER
from ..tensor_info import checked_shape
from .dtypes import RAW, item_bytes
from .handle import Handle
from .leaf import FileSource, Leaf, text
from .loaded import Loaded

METADATA = "__metadata__"
_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64",
    "I32": "int32", "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32",
    "U16": "uint16", "U8": "uint8", "BOOL": "bool", "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu", "C64": "complex64",
}  # fmt: skip


def read_safetensors_file(handle: Handle, limits: Limits) -> Loaded:
    """The tensors by name; metadata, if there is any, under its own key."""
    (length,) = struct.unpack("<Q", handle.read(8, 0).ljust(8, b"\0"))
    if length > MOST_HEADER:
        raise FormatError(f"{handle.name}: its header claims {length:,} bytes, too many")
    header = handle.read(length, 8)
    if len(header) < length:
        raise DamagedCheckpoint(
            f"{handle.name} is cut off: its header is not complete", hint="it may be half written"
        )
    try:
        table = orjson.loads(header)
    except orjson.JSONDecodeError as error:
        raise DamagedCheckpoint(f"{handle.name}: its header is no JSON: {error}") from None
    if not isinstance(table, dict) or len(table) > limits.most_tensors:
        raise FormatError(f"{handle.name}: its header is no table of tensors, or too long a one")
    metadata = table.pop(METADATA, None)
    node: dict[str, object] = {
        text(key): _leaf(handle, key, entry, 8 + length) for key, entry in table.items()
    }
    if isinstance(metadata, dict):
        node[METADATA] = {text(key): text(value) for key, value in list(metadata.items())[:100]}
    return Loaded(node, "safetensors", handle)


def _leaf(handle: Handle, key: str, entry: object, start: int) -> Leaf:
    plain = entry if isinstance(entry, dict) else {}
    shape = checked_shape(plain.get("shape"))
    offsets = checked_shape(plain.get("data_offsets"))
    if shape is None or offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise DamagedCheckpoint(f"{handle.name}: the entry of tensor {key[:80]!r} makes no sense")
    said = str(plain.get("dtype", ""))[:20]
    dtype = _DTYPES.get(said, said.lower())
    first, end = offsets
    if start + end > handle.size:
        raise DamagedCheckpoint(
            f"{handle.name} is cut off: it promises {start + end:,} bytes and has {handle.size:,}",
            hint="it may be half written",
        )
    storage = f"{handle.name}:{first}@{end}" if end > first else ""
    leaf = Leaf(shape, dtype, end - first, storage, file=handle.name)
    if dtype in RAW:
        if leaf.elements * item_bytes(dtype) != end - first:
            raise DamagedCheckpoint(
                f"{handle.name}: the shape of tensor {key[:80]!r} does not fit its bytes"
            )
        leaf.source = FileSource(handle, start + first, leaf.elements, RAW[dtype])
    return leaf

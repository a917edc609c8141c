"""The header of a safetensors file: a length, then a JSON table of tensors."""

from __future__ import annotations

import struct
from typing import BinaryIO

import orjson

from ..errors import FormatError
from .tensor_info import MOST_TENSORS, TensorInfo, checked_shape

MOST_HEADER = 25_000_000
"""Bytes; the largest published models need less than a tenth of it."""


def read_safetensors(file: BinaryIO, name: str) -> list[TensorInfo]:
    """The tensors that the header lists."""
    (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
    if length > MOST_HEADER:
        raise FormatError(f"{name}: its header claims {length:,} bytes, more than is sensible")
    header = file.read(length)
    if len(header) < length:
        raise FormatError(f"{name} is cut off: its header is not complete")
    try:
        table = orjson.loads(header)
    except orjson.JSONDecodeError as error:
        raise FormatError(f"{name}: its header is no JSON: {error}") from None
    if not isinstance(table, dict) or len(table) > MOST_TENSORS:
        raise FormatError(f"{name}: its header is no table of tensors")
    found = []
    for key, entry in table.items():
        if key == "__metadata__":
            continue
        shape = checked_shape(entry.get("shape")) if isinstance(entry, dict) else None
        if shape is None:
            raise FormatError(f"{name}: the entry of tensor {key[:80]!r} makes no sense")
        found.append(TensorInfo(key, shape, str(entry.get("dtype", "")).lower()[:20]))
    return found

"""Reads protocol buffer messages without their schema: field numbers and raw values."""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """These bytes are no protocol buffer message."""


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned varint and the position after it."""
    result = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
        if shift > 63:
            break
    raise WireError("a varint has no end")


def iter_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and values: integers for varints, bytes for all else."""
    position, size = 0, len(data)
    while position < size:
        tag, position = read_varint(data, position)
        kind = tag & 7
        if kind == VARINT:
            value, position = read_varint(data, position)
            yield tag >> 3, value
            continue
        if kind == BYTES:
            length, position = read_varint(data, position)
        elif kind == FIXED64:
            length = 8
        elif kind == FIXED32:
            length = 4
        else:
            raise WireError(f"unknown wire type {kind}")
        end = position + length
        if end > size:
            raise WireError("a field is longer than its message")
        yield tag >> 3, data[position:end]
        position = end


def as_signed(value: int | bytes) -> int:
    """A varint as a signed 64-bit integer."""
    if not isinstance(value, int):
        raise WireError("a number was expected")
    return value - (1 << 64) if value >> 63 else value


def as_bytes(value: int | bytes) -> bytes:
    """The content of a string, bytes or message field."""
    if isinstance(value, int):
        raise WireError("bytes were expected")
    return value


def as_text(value: int | bytes) -> str:
    """The content of a string field, readable whatever is in it."""
    return as_bytes(value).decode("utf-8", "replace")


def as_floating(value: int | bytes) -> float:
    """A `float` or `double` field, by its size."""
    raw = as_bytes(value)
    if len(raw) not in (4, 8):
        raise WireError("a floating point number was expected")
    (number,) = struct.unpack("<f" if len(raw) == 4 else "<d", raw)
    return float(number)

"""The framing of TensorFlow record files: lengths guarded by a masked CRC-32C."""

from __future__ import annotations

import struct
from functools import lru_cache

import numpy as np

HEADER_BYTES = 12
FOOTER_BYTES = 4
_SEARCH_BYTES = 1 << 20


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _crc_table()
_TABLE_ARRAY = np.array(_TABLE, dtype=np.uint32)
_MASK_DELTA = 0xA282EAD8


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted as TensorFlow stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def record_length(data: bytes, position: int) -> int | None:
    """Length of the record whose header stands at `position`; nothing if none does."""
    return _checked_length(data[position : position + HEADER_BYTES])


@lru_cache(maxsize=4096)  # the records of a file have few different lengths
def _checked_length(header: bytes) -> int | None:
    length, crc = struct.unpack("<QI", header)
    return int(length) if masked_crc(header[:8]) == crc else None


def find_record(data: bytes, start: int) -> int | None:
    """The first position from `start` on where a record's header stands."""
    last = len(data) - HEADER_BYTES
    while start <= last:
        count = min(last - start + 1, _SEARCH_BYTES)
        window = np.frombuffer(data, dtype=np.uint8, count=count + 11, offset=start)
        crc = np.full(count, 0xFFFFFFFF, dtype=np.uint32)
        for i in range(8):
            crc = _TABLE_ARRAY[(crc ^ window[i : i + count]) & 0xFF] ^ (crc >> 8)
        crc ^= np.uint32(0xFFFFFFFF)
        masked = ((crc >> 15) | (crc << 17)) + np.uint32(_MASK_DELTA)
        stored = np.zeros(count, dtype=np.uint32)
        for i in range(4):
            stored |= window[8 + i : 8 + i + count].astype(np.uint32) << np.uint32(8 * i)
        hits = np.flatnonzero(masked == stored)
        if len(hits):
            return start + int(hits[0])
        start += count
    return None


def frame(payload: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(payload))
    crcs = (struct.pack("<I", masked_crc(part)) for part in (length, payload))
    return length + next(crcs) + payload + next(crcs)

"""The container of a `.wandb` file: a LevelDB log of blocks, fragments and checksums."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

MAGIC = b":W&B"
FILE_HEADER_BYTES = 7
BLOCK_BYTES = 32 * 1024
FRAGMENT_HEADER_BYTES = 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


class WandbLog:
    """Cuts a growing `.wandb` file into its records; knows its place in the file."""

    def __init__(self) -> None:
        self.position = 0
        """Bytes read so far: blocks are counted from the start of the file."""
        self._parts: list[bytes] | None = None

    def read(
        self,
        data: bytes,
        on_record: Callable[[bytes], None],
        on_damage: Callable[[int], None],
    ) -> int:
        """Hand on every complete record (or the offset of a damaged one); bytes used."""
        used = 0
        if self.position == 0:
            if len(data) < FILE_HEADER_BYTES:
                return 0
            self.position = used = FILE_HEADER_BYTES
        while True:
            left_in_block = BLOCK_BYTES - self.position % BLOCK_BYTES
            if left_in_block < FRAGMENT_HEADER_BYTES:
                if used + left_in_block > len(data):
                    return used
                used, self.position = used + left_in_block, self.position + left_in_block
                continue
            if used + FRAGMENT_HEADER_BYTES > len(data):
                return used
            crc, length, kind = struct.unpack_from("<IHB", data, used)
            start = used + FRAGMENT_HEADER_BYTES
            if not FULL <= kind <= LAST or length > left_in_block - FRAGMENT_HEADER_BYTES:
                skipped = self._skip_block(len(data) - used, left_in_block, on_damage)
                if skipped == 0:
                    return used
                used += skipped
                continue
            if start + length > len(data):
                return used
            payload = data[start : start + length]
            if zlib.crc32(payload, zlib.crc32(bytes([kind]))) == crc:
                self._take(kind, payload, on_record, on_damage)
            else:
                self._parts = None
                on_damage(self.position)
            size = FRAGMENT_HEADER_BYTES + length
            used, self.position = used + size, self.position + size

    def _skip_block(
        self, available: int, left_in_block: int, on_damage: Callable[[int], None]
    ) -> int:
        """Nothing tells where the next fragment of this block begins; the next block does."""
        if available < left_in_block:
            return 0
        self._parts = None
        on_damage(self.position)
        self.position += left_in_block
        return left_in_block

    def _take(
        self,
        kind: int,
        payload: bytes,
        on_record: Callable[[bytes], None],
        on_damage: Callable[[int], None],
    ) -> None:
        if kind == FULL:
            self._parts = None
            on_record(payload)
        elif kind == FIRST:
            self._parts = [payload]
        elif self._parts is None:
            on_damage(self.position)  # its beginning was lost
        else:
            self._parts.append(payload)
            if kind == LAST:
                whole, self._parts = b"".join(self._parts), None
                on_record(whole)

"""Copies a small remote file whole, once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import InputError
from ..sources.looks import shown
from . import far_side
from .local_copy import LocalCopy, explain
from .marks import Mark
from .stamp import Stamp
from .unpacking import Unpacker

_REASONS = {
    b"none": "there is no such file over there",
    b"denied": "it cannot be opened over there",
    b"kind": "it is not a regular file over there",
}


def fetch_whole(
    ask: Callable[[bytes], Sequence[bytes | Mark]], remote: bytes, local: Path, cap: int
) -> int:
    """Put a copy in place and give its length; `InputError` if that cannot be or is too long."""
    name = shown(os.fsdecode(remote))
    pieces: list[bytes] = []
    unpacker: Unpacker | None = None
    stamp: Stamp | None = None
    most = cap + 2 * far_side.BLOCK
    for item in ask(far_side.whole(remote, cap)):
        if not isinstance(item, Mark):
            pieces.append(unpacker.take(item) if unpacker else item)
        elif item.words[0] == b"refused":
            reason = _REASONS.get(b"".join(item.words[1:]), f"it is longer than {cap} bytes")
            raise InputError(f"{name} is not copied: {reason}")
        elif item.words[0] == b"data":
            unpacker = Unpacker(most) if item.words[-1] == b"gzip" else None
        elif item.words[0] == b"end":
            stamp = Stamp.of(item.words[1:])
    data = b"".join(pieces)[:cap]
    copy = LocalCopy(local)
    try:
        copy.begin(0, data)
    except OSError as error:
        raise InputError(f"{name} is not copied: {explain(error)}") from None
    if stamp is not None and stamp.modified is not None:
        copy.set_time(stamp.modified)
    return len(data)

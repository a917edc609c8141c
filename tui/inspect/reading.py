"""Checkpoints read for the terminal: with progress for large ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mltd.analyzers.resources.shortage import shown_bytes
from mltd.runs.checkpoints import (
    CheckpointSummary,
    Comparison,
    compare_checkpoints,
    read_checkpoint,
)
from mltd.runs.checkpoints.apart import Progress

from .target import Target

LARGE = 64 << 20
"""Bytes from which on a look takes long enough to say how far it is."""
_CLEAR = "\r\x1b[K"


def read(target: Target, *, needs_values: bool) -> CheckpointSummary:
    """One checkpoint; Ctrl+C ends its worker with it."""
    with _told("reading") as progress:
        return read_checkpoint(
            target.path, root=target.folder, needs_values=needs_values, progress=progress
        )


def compare(first: Target, second: Target) -> Comparison:
    """Two checkpoints, value by value."""
    with _told("comparing") as progress:
        return compare_checkpoints(
            first.path, second.path, roots=(first.folder, second.folder), progress=progress
        )


@contextmanager
def _told(verb: str) -> Iterator[Progress | None]:
    if not sys.stderr.isatty():
        yield None
        return
    has_spoken = False

    def tell(done: int, total: int) -> None:
        nonlocal has_spoken
        if total < LARGE:
            return
        has_spoken = True
        share = done / total
        text = f"mltd-tui: {verb} {share:.0%} of {shown_bytes(total)}; Ctrl+C ends it"
        sys.stderr.write(f"{_CLEAR}{text}")
        sys.stderr.flush()

    try:
        yield tell
    finally:
        if has_spoken:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

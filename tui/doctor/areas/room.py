"""How much can still be written to a file system."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..line import Line, State

LITTLE = 100 * 2**20
"""Bytes; a training writes more than this in a checkpoint."""
_UNITS = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


def shown(size: float) -> str:
    """Bytes as one would say them: `12 GB`."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}" if size < 10 * unit else f"{size / unit:.0f} {name}"
    return f"{size:.0f} bytes"


class Room(NamedTuple):
    """What this user can still have; None where that is not counted."""

    space: int | None
    """Bytes."""
    files: int | None


def room_at(path: str | Path) -> Room:
    """How much fits on the file system of this path."""
    found = os.statvfs(path)
    # File systems that the kernel makes up have no blocks at all, and some count no files.
    return Room(
        found.f_bavail * found.f_frsize if found.f_blocks else None,
        found.f_favail if found.f_files else None,
    )


def low_space(area: str, path: str | Path) -> Iterator[Line]:
    """A line if there is little room where this is."""
    space, files = room_at(path)
    if files is not None and files < 100:
        yield Line(
            area,
            State.WARNING,
            f"the file system of {path} is full: {files} more files fit",
            "remove many small files there; `df -i` shows the count",
        )
    elif space is not None and space < LITTLE:
        yield Line(
            area,
            State.WARNING,
            f"the file system of {path} has only {shown(space)} left",
            "make room before a checkpoint or a log is cut short",
        )

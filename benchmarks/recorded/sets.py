"""The recorded sets and how they are unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = (
    "tasks", "healthy", "fresh", "catalogue", "frameworks", "people", "models", "projects",
    "rivals", "quiet",
)  # fmt: skip


def unpack(name: str, place: Path) -> Path:
    """Put the runs and labels of a set under a folder; where they are then."""
    data = place / name
    with tarfile.open(HERE / f"{name}.tar.xz") as archive:
        archive.extractall(data, filter="data")
    return data

"""The configuration files of a run one by one, as they are on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..errors import MltdError
from ..run import Run
from .files import read_config_file

MOST_FILES = 12


@dataclass(frozen=True, slots=True)
class StoredConfig:
    """One file and what it says."""

    path: str
    settings: Mapping[str, object]


def stored_configs(run: Run) -> list[StoredConfig]:
    """All configuration files that can be read; each is read once per state of the file."""
    found = []
    for artifact in [a for a in run.artifacts if a.kind == "config"][:MOST_FILES]:
        try:
            stamp = os.stat(artifact.path).st_mtime_ns
        except (OSError, ValueError):
            continue
        if (config := _read(artifact.path, artifact.root, stamp)) is not None:
            found.append(config)
    return found


@lru_cache(maxsize=256)
def _read(path: str, root: str, stamp: int) -> StoredConfig | None:
    """The stamp is part of the key, so a file that changed is read again."""
    try:
        return StoredConfig(path, read_config_file(path, root))
    except MltdError:
        return None

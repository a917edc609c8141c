"""Runs that were opened lately, remembered from one start to the next."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from mltd.runs.state_files import replace_privately, state_directory

MOST = 50
_LARGEST = 1 << 20
"""Bytes; a longer file is not one of ours."""


class RecentRuns:
    """The paths opened last, newest first; nothing that goes wrong here is worth a word."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or state_directory() / "recent.json"

    @property
    def paths(self) -> tuple[str, ...]:
        """All that are remembered, whether they still exist or not."""
        try:
            with self._file.open("rb") as file:
                known = json.loads(file.read(_LARGEST))
        except (OSError, ValueError, RecursionError):
            return ()
        if not isinstance(known, dict) or not isinstance(known.get("paths"), list):
            return ()
        kept = (path for path in known["paths"] if isinstance(path, str) and _is_usable(path))
        return tuple(dict.fromkeys(kept))[:MOST]

    def elsewhere(self, *directories: str) -> tuple[str, ...]:
        """Those that still exist and are not below any of these directories."""
        return tuple(
            path for path in self.paths if not is_below(path, directories) and os.path.exists(path)
        )

    def remember(self, path: str) -> None:
        """Put a path first; none of another host, for opening it again would ask for a log-in."""
        if "://" in path:
            return
        path = os.path.abspath(path)
        if not _is_usable(path):
            return
        paths = list(dict.fromkeys([path, *self.paths]))[:MOST]
        with contextlib.suppress(OSError):
            replace_privately(self._file, json.dumps({"paths": paths}, indent=1).encode())


def is_below(path: str, directories: Iterable[str]) -> bool:
    """True if a path is one of the directories or inside one."""
    full = os.path.abspath(path)
    places = [os.path.abspath(directory).rstrip(os.sep) for directory in directories]
    return any(full == place or full.startswith(place + os.sep) for place in places)


def _is_usable(path: str) -> bool:
    """No file can have such a name otherwise."""
    return bool(path) and "\0" not in path

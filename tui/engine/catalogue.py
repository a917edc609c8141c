"""The runs that the engine knows of, by number."""

from __future__ import annotations

import os

from mltd.runs.discovery import RunFiles, explore
from mltd.runs.errors import MltdError

from .followed_run import waiting_for


class Catalogue:
    """Runs in the order in which they were found; a run keeps its number."""

    def __init__(self) -> None:
        self.runs: list[RunFiles] = []
        self._places: dict[tuple[str, ...], int] = {}

    def add(self, names: tuple[str, ...]) -> tuple[list[int], list[str]]:
        """Find the runs behind names: their numbers, and sentences about what went wrong."""
        numbers: list[int] = []
        problems: list[str] = []
        for name in names:
            try:
                found = explore(name)
            except MltdError as problem:
                if _may_appear(name):
                    numbers.append(self._number(waiting_for(os.path.expanduser(name))))
                else:
                    problems.append(str(problem))
                continue
            numbers += [self._number(files) for files in found.runs]
            problems += found.notes
        return list(dict.fromkeys(numbers)), problems

    def _number(self, files: RunFiles) -> int:
        key = tuple(sorted(os.path.abspath(file.path) for file in files.files))
        if key not in self._places:
            self._places[key] = len(self.runs)
            self.runs.append(files)
        return self._places[key]


def _may_appear(name: str) -> bool:
    """A plain file name in a directory that exists: a job that is about to write it."""
    path = os.path.expanduser(name)
    is_plain = not any(character in name for character in "*?[\0") and not name.endswith(os.sep)
    return is_plain and not os.path.lexists(path) and os.path.isdir(os.path.dirname(path) or ".")

"""The runs that the engine knows of, by number."""

from __future__ import annotations

import os
from collections import Counter

from mltd.runs.discovery import RunFiles, explore
from mltd.runs.errors import MltdError
from mltd.runs.ingest import LOG_PURPOSES

from .followed_run import waiting_for

DEEPEST = 6
"""Folders that are named at the most to tell runs apart."""


class Catalogue:
    """Runs in the order in which they were found; a run keeps its number."""

    def __init__(self) -> None:
        self.runs: list[RunFiles] = []
        self._places: dict[str, int] = {}
        self._names: tuple[str, ...] = ()

    def add(self, names: tuple[str, ...]) -> tuple[list[int], list[str]]:
        """Find the runs behind names: their numbers, and sentences about what went wrong."""
        self._names = tuple(dict.fromkeys((*self._names, *names)))
        numbers: list[int] = []
        problems: list[str] = []
        for name in names:
            try:
                found = explore(name)
            except MltdError as problem:
                if _may_appear(name):
                    numbers.append(self._number(waiting_for(os.path.expanduser(name))))
                elif not _may_fill(name):
                    problems.append(str(problem))
                continue
            numbers += [self._number(files) for files in found.runs]
            problems += found.notes
        return list(dict.fromkeys(numbers)), problems

    @property
    def can_grow(self) -> bool:
        """True if runs or files of runs may appear later: a directory or a pattern was named."""
        return any(_may_fill(name) or _is_pattern(name) for name in self._names)

    def look_again(self) -> tuple[list[int], list[int]]:
        """What appeared since: numbers of new runs, and of runs that have other files now."""
        new: list[int] = []
        changed: list[int] = []
        for name in self._names:
            if not (_may_fill(name) or _is_pattern(name)):
                continue
            try:
                found = explore(name)
            except MltdError:
                continue
            for files in found.runs:
                before = len(self.runs)
                number = self._number(files)
                if number == before:
                    new.append(number)
                elif _logs(files) != _logs(self.runs[number]):
                    self.runs[number] = files
                    changed.append(number)
        return new, changed

    def _number(self, files: RunFiles) -> int:
        # By its logs: a run alone in its folder is called otherwise once it has company.
        logs = files.paths(*LOG_PURPOSES) or [os.path.join(files.root, files.name)]
        places = [os.path.abspath(path) for path in logs]
        number = next((self._places[place] for place in places if place in self._places), None)
        if number is None:
            number = len(self.runs)
            self.runs.append(files)
        for place in places:
            self._places.setdefault(place, number)
        return number

    def names(self) -> list[str]:
        """What each run is called; those called alike, with as much of their folder as it takes."""
        called = [files.name for files in self.runs]
        folders = [os.path.abspath(files.root).split(os.sep)[::-1] for files in self.runs]
        for depth in range(DEEPEST):
            alike = Counter(called)
            for number, name in enumerate(called):
                if alike[name] > 1 and depth < len(folders[number]):
                    called[number] = f"{folders[number][depth]}{os.sep}{name}"
        return called


def _logs(files: RunFiles) -> set[str]:
    return {os.path.abspath(path) for path in files.paths(*LOG_PURPOSES)}


def _is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def _may_fill(name: str) -> bool:
    """A directory, in which something may appear later."""
    return "\0" not in name and os.path.isdir(os.path.expanduser(name))


def _may_appear(name: str) -> bool:
    """A plain file name in a directory that exists: a job that is about to write it."""
    path = os.path.expanduser(name)
    is_plain = not _is_pattern(name) and "\0" not in name and not name.endswith(os.sep)
    is_plain = is_plain and not name.startswith("job:")
    return is_plain and not os.path.lexists(path) and os.path.isdir(os.path.dirname(path) or ".")

"""The runs that the engine knows of, by number."""

from __future__ import annotations

import os
from collections import Counter

from mltd.runs.discovery import Discovery, RunFile, RunFiles, explore, split_settings
from mltd.runs.errors import MltdError
from mltd.runs.ingest import LOG_PURPOSES
from mltd.runs.open_artifact import folder_of
from mltd.runs.remote.places import place_of

from .followed_run import waiting_for

DEEPEST = 6
"""Folders that are named at the most to tell runs apart."""


class Catalogue:
    """Runs in the order in which they were found; a run keeps its number."""

    def __init__(self) -> None:
        self.runs: list[RunFiles] = []
        self._places: dict[str, int] = {}
        self._names: tuple[str, ...] = ()
        self._kept: set[int] = set()
        """Numbers of runs that are known from before and were not found again yet."""
        self._settings: list[RunFile] = []
        """Files that were named together with runs."""

    def add(self, names: tuple[str, ...]) -> tuple[list[int], list[str]]:
        """Find the runs behind names: their numbers, and sentences about what went wrong."""
        self._names = tuple(dict.fromkeys((*self._names, *names)))
        numbers: list[int] = []
        problems: list[str] = []
        runs, settings = split_settings(names)
        self._settings += [file for file in settings if file not in self._settings]
        for name in runs:
            try:
                found = self._explore(name)
            except MltdError as problem:
                if waiting := _waiting_runs(problem):
                    numbers += map(self._number, waiting)
                elif _may_appear(name):
                    numbers.append(self._number(waiting_for(place_of(name))))
                elif not _may_fill(name):
                    problems.append(str(problem))
                continue
            numbers += [self._number(files) for files in found.runs]
            problems += found.notes
        return list(dict.fromkeys(numbers)), problems

    def _explore(self, name: str) -> Discovery:
        found = explore(name)
        for files in found.runs if self._settings else ():
            files.add_named(self._settings)
        return found

    def keep(self, known: tuple[tuple[str, ...], ...]) -> None:
        """Give runs that were known before, by their logs, the numbers that they had."""
        from mltd.runs.discovery import Purpose

        for logs in known[len(self.runs) :]:
            paths = [place_of(log) for log in logs]
            folder, name = os.path.split(paths[0])
            # Which of them the user named is known again once they are found again.
            logs_then = [RunFile(path, Purpose.LOG, folder_of(path)) for path in paths]
            files = RunFiles(name, folder, logs_then)
            self._kept.add(self.put(files))

    def is_kept(self, number: int) -> bool:
        """True if a number is only known from before."""
        return number in self._kept

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
                found = self._explore(name)
            except MltdError:
                continue
            for files in found.runs:
                before = len(self.runs)
                number = self._number(files)
                if number == before:
                    new.append(number)
                elif _logs(files) != _logs(self.runs[number]) and not self._is_of_job(
                    files, number
                ):
                    files.job = self.runs[number].job
                    self.runs[number] = files
                    changed.append(number)
        return new, changed

    def _is_of_job(self, files: RunFiles, number: int) -> bool:
        """True if a job names all these logs, and perhaps one that lies elsewhere."""
        return self.runs[number].job is not None and _logs(files) <= _logs(self.runs[number])

    def _number(self, files: RunFiles) -> int:
        number = self.find(files)
        is_new = number is None or number in self._kept
        return self.put(files, number) if is_new else self._note(files, number or 0)

    def find(self, files: RunFiles) -> int | None:
        """The number of a run that is known already."""
        places = self._places
        return next((places[place] for place in _places(files) if place in places), None)

    def put(self, files: RunFiles, number: int | None = None) -> int:
        """Know one more run, or another one under a number; the number."""
        if number is None:
            number = len(self.runs)
            self.runs.append(files)
        else:
            self.runs[number] = files
            self._kept.discard(number)
        return self._note(files, number)

    def _note(self, files: RunFiles, number: int) -> int:
        for place in _places(files):
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


def _places(files: RunFiles) -> list[str]:
    """What a run is known by: its logs, for its name changes when its folder gets other runs."""
    logs = files.paths(*LOG_PURPOSES) or [os.path.join(files.root, files.name)]
    return [os.path.abspath(path) for path in logs]


def _logs(files: RunFiles) -> set[str]:
    return {os.path.abspath(path) for path in files.paths(*LOG_PURPOSES)}


def _waiting_runs(problem: MltdError) -> list[RunFiles]:
    """What a job will write that has written nothing yet."""
    from mltd.runs.discovery.jobs import JobWithoutLog

    return problem.runs if isinstance(problem, JobWithoutLog) else []


def _is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def _may_fill(name: str) -> bool:
    """A directory, in which something may appear later."""
    return "\0" not in name and os.path.isdir(place_of(name))


def _may_appear(name: str) -> bool:
    """A plain file name in a directory that exists: a job that is about to write it."""
    path = place_of(name)
    is_plain = not _is_pattern(name) and "\0" not in name and not name.endswith(os.sep)
    is_plain = is_plain and not name.startswith("job:")
    return is_plain and not os.path.lexists(path) and os.path.isdir(os.path.dirname(path) or ".")

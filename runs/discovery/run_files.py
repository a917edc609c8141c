"""What discovery finds: runs, each with its files and what they are for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ..open_artifact import ANYWHERE, folder_of

if TYPE_CHECKING:
    from ..schedulers.job import Job

_NUMBER = re.compile(r"(\d+)")


class Purpose(StrEnum):
    """What a file of a run is good for."""

    LOG = "log"
    METRICS = "metrics"
    CONFIG = "config"
    CHECKPOINT = "checkpoint"
    """An artifact, known by its path; its content is never read here."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """One file (or checkpoint directory) of a run."""

    path: str
    purpose: Purpose
    root: str = ANYWHERE
    """The folder that it must really lie in to be read; `ANYWHERE` if the user named the file."""


@dataclass(slots=True)
class RunFiles:
    """One run: a name to show, the folder it lives in, its files."""

    name: str
    root: str
    files: list[RunFile] = field(default_factory=list)
    job: Job | None = None
    """The job that writes these files, if a scheduler knows it."""

    def paths(self, *purposes: Purpose) -> list[str]:
        """Paths of the files for these purposes, in order."""
        return [file.path for file in self.files if file.purpose in purposes]

    def root_of(self, path: str) -> str:
        """The folder that the file with this path must lie in to be read."""
        for file in self.files:
            if file.path == path or os.path.normpath(file.path) == os.path.normpath(path):
                return file.root
        # A file that is not one of the run's was never named.
        return folder_of(path)

    def add_named(self, files: Sequence[RunFile]) -> None:
        """Have more files, which the user named."""
        named = {os.path.realpath(file.path) for file in files}
        # A link to one of them is read as what was named, and under no other name.
        kept = [f for f in self.files if not named or os.path.realpath(f.path) not in named]
        self.files = sorted_files([*kept, *files])

    @property
    def is_readable(self) -> bool:
        """True if there is anything to read a curve or a message from."""
        return bool(self.paths(Purpose.LOG, Purpose.METRICS))


@dataclass(slots=True)
class Discovery:
    """The runs behind a name, and what was left out on the way."""

    runs: list[RunFiles]
    notes: list[str] = field(default_factory=list)


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sort key that puts `version_10` after `version_9`."""
    parts = _NUMBER.split(text)
    return [(1, int(p), "") if i % 2 else (0, 0, p) for i, p in enumerate(parts)]


def sorted_files(files: list[RunFile]) -> list[RunFile]:
    """Files without doubles: logs, metrics, config, checkpoints, each in natural order."""
    order = list(Purpose)
    # One that was found and named is a named one.
    unique = {(f.path, f.purpose): f for f in sorted(files, key=lambda f: f.root == ANYWHERE)}
    return sorted(unique.values(), key=lambda f: (order.index(f.purpose), natural_key(f.path)))

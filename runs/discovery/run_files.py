"""What discovery finds: runs, each with its files and what they are for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

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
    return sorted(set(files), key=lambda f: (order.index(f.purpose), natural_key(f.path)))

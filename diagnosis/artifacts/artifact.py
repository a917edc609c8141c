"""One file of the session's runs, under the name by which it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ArtifactKind(StrEnum):
    """What a file is to its run."""

    LOG = "log"
    METRICS = "metrics"
    CONFIG = "config"
    CHECKPOINT = "checkpoint"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that may be looked at, or of which it is known why it may not."""

    name: str
    """Short, printable and unique in the session: `run1/train.log`."""
    kind: ArtifactKind
    path: str
    """As the run knows it."""
    real: str = ""
    """Where it really is, without a symbolic link on the way; empty if it is not read."""
    run: str = ""
    """Name of the run that it belongs to; empty below a source root."""
    format: str = ""
    lines: int | None = None
    """How many it has, if the run has counted them."""
    note: str = ""
    problem: str = ""
    """Why it is not read, in a sentence; empty if it is."""
    parts: tuple[str, ...] = ()
    """Names of the weight files, for a checkpoint that is a folder."""
    roots: tuple[str, ...] = ()
    """Real folders, in one of which it must still lie when it is opened."""


class Place(NamedTuple):
    """An artifact, and the lines of it that a reference names."""

    artifact: Artifact
    first: int | None = None
    last: int | None = None


class BookLine(NamedTuple):
    """One line as text in which nothing can act on a terminal."""

    number: int
    """1-based, as the log pane and events count: a progress bar stays within its line."""
    text: str
    left_out: int = 0
    """Characters (bytes, of a line beyond 64 KiB) that are missing from the text."""
    is_key: bool = False
    """It is within a private key, which nothing in the line itself may tell."""
    is_match: bool = True
    """False for a line that only stands beside one that was searched for."""


class Excerpt(NamedTuple):
    """Consecutive lines of an artifact."""

    artifact: Artifact
    lines: tuple[BookLine, ...]
    total: int | None = None
    """How many lines there are in all, if that is known by now."""
    note: str = ""
    before: BookLine | None = None
    """The line before the first one: it may name a secret that stands in it."""


class Hits(NamedTuple):
    """What a search found."""

    artifact: Artifact
    lines: tuple[BookLine, ...]
    total: int
    """How many lines match, those that are not shown included."""
    searched: int
    """Number of the last line that was looked at."""
    problem: str = ""
    """Why not all of the file was searched, in words; empty if it was."""
    is_late: bool = False
    """The time was over: the search can go on behind the last line that was looked at."""

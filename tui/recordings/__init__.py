"""Recorded trainings, healthy and failing, that come with the package.

Each folder holds the files of one real training, byte for byte but gzip-ped unless they are
tiny, and a `recording.toml` that says what was really done to it. `demo/record.py` makes them.
"""

from __future__ import annotations

import gzip
import heapq
import io
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mltd.runs.errors import InputError

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """One file that the training wrote, and the pace at which it grew."""

    name: str
    """What the training called it."""
    path: Path
    """Where it is stored: compressed if its name ends in `.gz`."""
    lines: int
    starts_after: float
    """Seconds from the first line of the whole recording to the first line of this file."""
    seconds_per_line: float

    def timeline(self) -> Iterator[tuple[float, str, bytes]]:
        """Each line with its line end, the file's name, and when it is due in seconds."""
        for number, line in enumerate(io.BytesIO(self.read())):
            yield self.starts_after + number * self.seconds_per_line, self.name, line

    def read(self) -> bytes:
        """All bytes that the training wrote."""
        stored = self.path.read_bytes()
        return gzip.decompress(stored) if self.path.suffix == ".gz" else stored


@dataclass(frozen=True, slots=True)
class Recording:
    """One real training: its files, and the truth about it."""

    name: str
    title: str
    truth: str
    """What was really done to the training, for judging a triage; no part of its evidence."""
    causes: tuple[str, ...]
    """The root-cause ids that are right, the deepest first; empty if nothing is wrong."""
    seed: int
    torch: str
    files: tuple[RecordedFile, ...]

    def timeline(self) -> Iterator[tuple[float, str, bytes]]:
        """All lines of all files in the order in which they came; see `RecordedFile`."""
        return heapq.merge(*(file.timeline() for file in self.files), key=lambda due: due[0])


def names() -> list[str]:
    """The recordings that there are."""
    return sorted(path.parent.name for path in HERE.glob("*/recording.toml"))


def load(name: str) -> Recording:
    """Read one recording's description."""
    if name not in names():
        raise InputError(
            f"there is no recording called {name!r}", hint=f"there are {', '.join(names())}"
        )
    folder = HERE / name
    facts = tomllib.loads((folder / "recording.toml").read_text(encoding="utf-8"))
    files = tuple(
        RecordedFile(
            name=file["name"],
            path=_stored(folder, file["name"]),
            lines=file["lines"],
            starts_after=file["starts_after"],
            seconds_per_line=file["seconds_per_line"],
        )
        for file in facts["files"]
    )
    return Recording(
        name=name,
        title=facts["title"],
        truth=facts["truth"],
        causes=tuple(facts["causes"]),
        seed=facts["seed"],
        torch=facts["torch"],
        files=files,
    )


def _stored(folder: Path, name: str) -> Path:
    compressed = folder / f"{name}.gz"
    return compressed if compressed.exists() else folder / name

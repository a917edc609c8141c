"""What Slurm was asked and what it said, in private files that all programs of a user share."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...state_files import private_folder, replace_privately, state_directory
from .problems import Problem, Trouble

MOST_KEPT = 8
"""Answers of a kind; nobody looks at an older one again."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One question's last attempt and last answer."""

    tried: float = -math.inf
    text: str | None = None
    asked: float | None = None
    mark: str = ""
    problem: Problem | None = None
    """Of the last attempt."""

    def age(self, now: float) -> float:
        """Seconds since the last attempt; infinite if the clock went back behind it."""
        return now - self.tried if now >= self.tried else math.inf


@dataclass(slots=True)
class Page:
    """All about one kind of question."""

    moments: list[float] = field(default_factory=list)
    """When one of the kind was put."""
    entries: dict[str, Entry] = field(default_factory=dict)

    def note(self, key: str, entry: Entry) -> None:
        """Keep an answer, and forget the oldest if there are many."""
        self.entries[key] = entry
        newest = sorted(self.entries, key=lambda name: self.entries[name].tried, reverse=True)
        self.entries = {name: self.entries[name] for name in newest[:MOST_KEPT]}


@dataclass
class Notebook:
    """Pages by kind, on disk where that is possible and in memory in any case."""

    folder: Path | None = None
    _own: dict[str, Page] = field(default_factory=dict)

    def read(self, kind: str) -> Page:
        """The page; of the one on disk and the one in memory, that which knows more."""
        own = self._own.get(kind, Page())
        try:
            stored = _decoded(self._path(kind).read_bytes())
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return own
        return own if max(own.moments, default=0.0) > max(stored.moments, default=0.0) else stored

    def write(self, kind: str, page: Page) -> None:
        """Keep the page, in memory alone if the disk does not take it."""
        self._own[kind] = page
        with contextlib.suppress(OSError):
            replace_privately(self._path(kind), _encoded(page))

    def _path(self, kind: str) -> Path:
        return (self.folder or state_directory() / "schedulers") / f"slurm-{kind}.json"

    @contextlib.contextmanager
    def locked(self, kind: str, patience: float) -> Iterator[None]:
        """Keep other programs out, for as long as they can be expected to wait."""
        path = self._path(kind).with_suffix(".lock")
        try:
            private_folder(path.parent)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            yield
            return
        try:
            _acquire(handle, patience)
            yield
        finally:
            os.close(handle)


def _acquire(handle: int, patience: float) -> None:
    """Wait for the lock, but not for ever; some file systems have none."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        except OSError:
            return
        else:
            return


def _encoded(page: Page) -> bytes:
    entries = {
        key: {
            "tried": entry.tried,
            "text": entry.text,
            "asked": entry.asked,
            "mark": entry.mark,
            "problem": entry.problem
            and [entry.problem.trouble, entry.problem.message, entry.problem.hint],
        }
        for key, entry in page.entries.items()
    }
    document = {"moments": page.moments, "entries": entries}
    return json.dumps(document, ensure_ascii=False).encode(errors="surrogateescape")


def _decoded(data: bytes) -> Page:
    document: Any = json.loads(data.decode(errors="surrogateescape"))
    page = Page([float(moment) for moment in document["moments"]])
    for key, stored in document["entries"].items():
        text, asked, said = stored["text"], stored["asked"], stored["problem"]
        page.entries[str(key)] = Entry(
            float(stored["tried"]),
            None if text is None else str(text),
            None if asked is None else float(asked),
            str(stored["mark"]),
            None if said is None else Problem(Trouble(said[0]), str(said[1]), str(said[2])),
        )
    return page

"""A run that grows: its files followed, each new line read once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

from .discovery import RunFiles
from .errors import MltdError
from .ingest import LOG_PURPOSES, FileFeed, Loaded, new_run
from .settings import current
from .sources.follower import FileFollower
from .sources.utf8_transcoder import PieceTranscoder
from .sources.watcher import Watcher

QUIET = 1.0
"""Seconds without news after which an unfinished traceback or a short file is read as it is."""


class LiveRun:
    """Follows the logs of one run."""

    def __init__(self, files: RunFiles) -> None:
        self.loaded: Loaded = new_run(files)
        self._feeds: dict[Path, _FollowedFile] = {}
        for path in files.paths(*LOG_PURPOSES):
            feed = FileFeed(self.loaded.run, path)
            self._feeds[Path(path)] = _FollowedFile(FileFollower(path), feed)

    @property
    def paths(self) -> list[Path]:
        """The followed files."""
        return list(self._feeds)

    def read(self, changed: set[Path] | None = None) -> bool:
        """Read what is new in the changed files (in all if not told); true if anything was."""
        news = False
        for path, followed in self._feeds.items():
            if changed is not None and path not in changed:
                continue
            try:
                news |= followed.read()
            except MltdError as problem:
                self.loaded.problems.append(problem)
                followed.is_dead = True
        return news

    def settle(self) -> bool:
        """Nothing has come for a while: read what was held back waiting for more."""
        # A sum, not any(): every file must get its turn.
        return sum(followed.settle() for followed in self._feeds.values()) > 0

    def close(self) -> None:
        """Let go of the files."""
        for followed in self._feeds.values():
            followed.follower.close()


class _FollowedFile:
    def __init__(self, follower: FileFollower, feed: FileFeed) -> None:
        self.follower = follower
        self.feed = feed
        self.is_dead = False
        self._transcoder = PieceTranscoder()
        self._generation = 0

    def read(self) -> bool:
        if self.is_dead:
            return False
        news = False
        while pieces := self.follower.read(4 << 20):
            for piece in self._transcoder.feed(pieces):
                if piece.generation != self._generation:
                    self._generation = piece.generation
                    self.feed.restart()
                self.feed.feed(piece.data, final=piece.ends)
                news = True
        return news

    def settle(self) -> bool:
        if self.is_dead:
            return False
        return self.feed.settle()


def follow(
    runs: list[LiveRun],
    poll_seconds: float | None = None,
    *,
    report: Callable[[str], None] | None = None,
) -> Generator[list[LiveRun], None, None]:
    """Yield the runs that changed, each time some did; the first time all of them.

    `report` is told once, in a sentence, about every file that inotify cannot follow.
    """
    owner = {path: run for run in runs for path in run.paths}
    told: dict[Path, str] = {}
    for run in runs:
        run.read()
    yield list(runs)
    with Watcher(list(owner), poll_seconds=poll_seconds or current().poll_seconds) as watcher:
        while True:
            changed = watcher.wait(QUIET)
            for path, note in watcher.notes().items():
                if report is not None and told.get(path) != note:
                    told[path] = note
                    report(f"{path}: {note}")
            grown = [run for run in runs if run.read(changed & set(run.paths))]
            if not changed:
                grown = [run for run in runs if run.settle()]
            if grown:
                yield grown

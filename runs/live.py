"""A run that grows: its files followed, each new line read once."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

from .discovery import RunFiles
from .errors import MltdError
from .ingest import LOG_PURPOSES, FileFeed, Loaded, new_run
from .settings import current
from .sources.follower import FileFollower
from .sources.inputs import InputStream, open_bytes
from .sources.pieces import FollowState, FollowStatus
from .sources.utf8_transcoder import PieceTranscoder, Utf8Transcoder
from .sources.watcher import Watcher
from .thinning import MOST_COLUMN_BYTES, thin_if_larger

QUIET = 1.0
"""Seconds without news after which an unfinished traceback or a short file is read as it is."""


_BITE = 4 << 20


class LiveRun:
    """Follows the logs of one run."""

    def __init__(self, files: RunFiles) -> None:
        self.loaded: Loaded = new_run(files)
        self._feeds: dict[Path, _FollowedFile | _ArchivedFile] = {}
        for file in files.files:
            if file.purpose not in LOG_PURPOSES:
                continue
            try:
                self._feeds[Path(file.path)] = self._open(file.path, file.root)
            except MltdError as problem:
                self.loaded.problems.append(problem)

    def _open(self, path: str, root: str) -> _FollowedFile | _ArchivedFile:
        stream = open_bytes(path, root) if os.path.exists(path) else None
        if stream is not None and stream.compression:
            return _ArchivedFile(stream, FileFeed(self.loaded.run, path, root))
        if stream is not None:
            stream.close()
        return _FollowedFile(FileFollower(path, root), FileFeed(self.loaded.run, path, root))

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
                while followed.read_some(_BITE):
                    news = True
                    thin_if_larger(self.loaded.run, MOST_COLUMN_BYTES)
            except MltdError as problem:
                self.loaded.problems.append(problem)
                followed.is_dead = True
        return news

    def read_some(self, path: Path, max_bytes: int) -> bool:
        """Read at most so many bytes of one file; true if there were any."""
        followed = self._feeds[path]
        try:
            return followed.read_some(max_bytes)
        except MltdError as problem:
            self.loaded.problems.append(problem)
            followed.is_dead = True
            followed.feed.source.note = problem.message
            return False

    def is_given_up(self, path: Path) -> bool:
        """True if a file could not be read and is not looked at any more."""
        followed = self._feeds[path]
        return followed.is_dead and isinstance(followed, _FollowedFile)

    def unread(self, path: Path) -> int:
        """Bytes of a file that were seen and not read yet."""
        followed = self._feeds[path]
        return 0 if followed.is_dead else followed.unread

    def status_of(self, path: Path) -> FollowStatus:
        """How a followed file is doing."""
        return self._feeds[path].status

    def settle(self, *, with_tail: bool = False) -> bool:
        """Nothing has come for a while: read what was held back waiting for more.

        With `with_tail` the log seems to be over: a last line without an end is read as well.
        """
        # A sum, not any(): every file must get its turn.
        return sum(one.settle(with_tail=with_tail) for one in self._feeds.values()) > 0

    def close(self) -> None:
        """Let go of the files."""
        for followed in self._feeds.values():
            followed.close()


class _FollowedFile:
    def __init__(self, follower: FileFollower, feed: FileFeed) -> None:
        self.follower = follower
        self.feed = feed
        self.is_dead = False
        self._transcoder = PieceTranscoder()
        self._generation = 0

    @property
    def unread(self) -> int:
        return self.follower.unread

    @property
    def status(self) -> FollowStatus:
        return self.follower.status

    def read_some(self, max_bytes: int) -> bool:
        if self.is_dead:
            return False
        news = False
        for piece in self._transcoder.feed(self.follower.read(max_bytes)):
            if piece.generation != self._generation:
                self._generation = piece.generation
                self.feed.restart()
            self.feed.feed(piece.data, final=piece.ends)
            if piece.has_gap:
                self.feed.mark_gap()
            news = True
        return news

    def settle(self, *, with_tail: bool) -> bool:
        if self.is_dead:
            return False
        return self.feed.settle(with_tail=with_tail)

    def close(self) -> None:
        self.follower.close()


class _ArchivedFile:
    """A compressed log: read once to its end, for nobody appends to it."""

    status = FollowStatus(FollowState.FOLLOWING)

    def __init__(self, stream: InputStream, feed: FileFeed) -> None:
        self.feed = feed
        self.is_dead = False
        self._stream = stream
        self._transcoder = Utf8Transcoder()

    @property
    def unread(self) -> int:
        """Nobody knows how much an archive holds before it was read."""
        return 0 if self.is_dead else 1

    def read_some(self, max_bytes: int) -> bool:
        if self.is_dead:
            return False
        data = self._stream.read(max_bytes)
        self.feed.feed(self._transcoder.feed(data, final=not data), final=not data)
        if not data:
            self.feed.source.note = "; ".join(self._stream.notes)
            self.is_dead = True
            self.close()
        return True

    def settle(self, *, with_tail: bool) -> bool:
        return False

    def close(self) -> None:
        self._stream.close()


def follow(
    runs: list[LiveRun],
    poll_seconds: float | None = None,
    *,
    report: Callable[[str], None] | None = None,
    until: Callable[[], bool] | None = None,
) -> Generator[list[LiveRun], None, None]:
    """Yield the runs that changed, each time some did; the first time all of them.

    `report` is told once, in a sentence, about every file that inotify cannot follow. The last
    update comes after `until` says that the files will not grow any more.
    """
    owner = {path: run for run in runs for path in run.paths}
    told: dict[Path, str] = {}
    for run in runs:
        run.read()
    yield list(runs)
    with Watcher(list(owner), poll_seconds=poll_seconds or current().poll_seconds) as watcher:
        is_over = False
        while not is_over:
            changed = watcher.wait(QUIET)
            is_over = not changed and until is not None and until()
            for path, note in watcher.notes().items():
                if report is not None and told.get(path) != note:
                    told[path] = note
                    report(f"{path}: {note}")
            grown = [run for run in runs if run.read(None if is_over else changed)]
            if not changed:
                grown = [run for run in runs if run.settle(with_tail=is_over) or run in grown]
            if grown:
                yield grown

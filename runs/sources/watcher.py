"""Which followed paths have changed: told by inotify where it speaks, else found by looking.

inotify watches the directories, so that files which appear later and rotations are seen too.
"""

from __future__ import annotations

import errno
import logging
import math
import os
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from ..errors import SettingsError
from .clock import Clock, SystemClock
from .looks import Look, look
from .mounts import file_system_type, is_silent_type
from .watched_path import WatchedPath

if TYPE_CHECKING:
    from watchdog.observers.api import ObservedWatch

REST_SECONDS = 0.1
"""Reports are at least so far apart: a chatty log must not keep a login node's core busy."""

_WATCH_ERRORS = {
    errno.ENOSPC: "the system's limit of inotify watches is reached",
    errno.EMFILE: "the system's limit of inotify instances is reached",
    errno.ENFILE: "the system's limit of open files is reached",
    errno.ENOENT: "its directory does not exist yet",
    errno.ENOTDIR: "its directory does not exist yet",
    errno.EACCES: "its directory may not be listed",
}


class Notifier(Protocol):
    """What tells about changes in directories."""

    def watch(self, directory: str) -> None:
        """Start telling about this directory, or raise OSError."""
        ...

    def close(self) -> None:
        """Stop telling."""
        ...


class WatchdogNotifier:
    """inotify through watchdog: names of changed files, and of watched directories that went."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        from watchdog import events
        from watchdog.observers import Observer

        # It warns of changes that come while it stops, which without a handler is printed.
        logging.getLogger("watchdog").addHandler(logging.NullHandler())

        class Handler(events.FileSystemEventHandler):
            def dispatch(self, event: events.FileSystemEvent) -> None:
                for name in (event.src_path, event.dest_path):
                    if name:
                        tell(os.fsdecode(name))

        # Not opening and closing: our own reading would wake us again and again.
        self._filter: list[type[events.FileSystemEvent]] = [
            events.FileModifiedEvent,
            events.FileCreatedEvent,
            events.FileDeletedEvent,
            events.FileMovedEvent,
            events.DirDeletedEvent,
        ]
        # Before version 7 a change of attributes is a modification.
        if hasattr(events, "FileAttribEvent"):
            self._filter.append(events.FileAttribEvent)
        self._handler = Handler()
        self._watches: dict[str, ObservedWatch] = {}
        self._observer = Observer()
        # Started first, so that a watch that cannot be had raises where it is asked for.
        self._observer.start()

    def watch(self, directory: str) -> None:
        """Start telling about this directory, or raise OSError."""
        if not os.access(directory, os.R_OK):
            code = errno.EACCES if os.path.isdir(directory) else errno.ENOENT
            raise OSError(code, os.strerror(code), directory)
        # A directory of the same name may have gone; its dead watch would stand for the new one.
        if directory in self._watches:
            self._observer.unschedule(self._watches.pop(directory))
        self._watches[directory] = self._observer.schedule(
            self._handler, directory, event_filter=self._filter
        )

    def close(self) -> None:
        """Stop telling."""
        self._observer.stop()
        self._observer.join()


class Watcher:
    """Waits for changes of many paths; `wait` belongs to one thread, the rest to any."""

    def __init__(
        self,
        paths: Iterable[Path] = (),
        poll_seconds: float | None = None,
        *,
        clock: Clock | None = None,
        look: Callable[..., Look | None] = look,
        file_system: Callable[[str], str] = file_system_type,
        notifier: Callable[[Callable[[str], None]], Notifier] = WatchdogNotifier,
    ) -> None:
        if poll_seconds is not None and not (0 < poll_seconds < math.inf):
            raise SettingsError(
                f"{poll_seconds} s is no polling interval", hint="give seconds greater than 0"
            )
        self._poll_seconds = None if poll_seconds is None else float(poll_seconds)
        self._clock: Clock = clock or SystemClock()
        self._look = look
        self._file_system = file_system
        self._new_notifier = partial(notifier, self._tell)
        self._notifier: Notifier | None = None
        self._directories: set[str] = set()
        self._types: dict[str, str] = {}
        self._wake = threading.Condition()
        self._names: set[str] = set()
        self._told: set[str] = set()
        self._fresh: list[WatchedPath] = []
        self._watched: dict[Path, WatchedPath] = {}
        self._is_stopped = False
        self._reported = -math.inf
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Watch one more path; the next `wait` reports it, whether it changed or not."""
        with self._wake:
            if path not in self._watched:
                self._watched[path] = WatchedPath(path)
                self._fresh.append(self._watched[path])
                self._wake.notify_all()

    def discard(self, path: Path) -> None:
        """Watch a path no longer."""
        with self._wake:
            self._watched.pop(path, None)

    def modes(self) -> dict[Path, str]:
        """How each path is watched: `inotify`, or `poll 1.0 s`."""
        with self._wake:
            return {path: state.mode for path, state in self._watched.items()}

    def notes(self) -> dict[Path, str]:
        """Why the polled paths are polled."""
        with self._wake:
            return {path: state.note for path, state in self._watched.items() if state.note}

    def wait(self, timeout: float | None = None) -> set[Path]:
        """Block until paths (may) have changed; empty after `timeout` seconds or `stop`."""
        deadline = math.inf if timeout is None else self._clock.now() + timeout
        while True:
            changed = self._gather()
            now = self._clock.now()
            with self._wake:
                if changed or self._is_stopped or now >= deadline:
                    self._reported = now if changed else self._reported
                    return changed
                if not self._fresh:
                    self._sleep(now, deadline)

    def stop(self) -> None:
        """Let `wait` return at once, now and always."""
        with self._wake:
            self._is_stopped = True
            self._wake.notify_all()

    def close(self) -> None:
        """Stop, and give the watches back."""
        self.stop()
        notifier, self._notifier = self._notifier, None
        if notifier is not None:
            notifier.close()

    def __enter__(self) -> Self:
        """Watch for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop, and give the watches back."""
        self.close()

    def _tell(self, name: str) -> None:
        with self._wake:
            if name in self._names:
                self._told.add(name)
                self._wake.notify_all()

    def _sleep(self, now: float, deadline: float) -> None:
        """Wait for an event, or for what is due next; the lock is held."""
        due = min((state.due for state in self._watched.values()), default=math.inf)
        if self._told:
            due = min(due, self._reported + REST_SECONDS)
        until = min(due, deadline)
        if until > now:
            self._clock.wait(self._wake, None if until == math.inf else until - now)

    def _gather(self) -> set[Path]:
        """Changed paths: those just added, those that events name, those whose look was due."""
        now = self._clock.now()
        with self._wake:
            fresh, self._fresh = self._fresh, []
            told: set[str] = set()
            if now >= self._reported + REST_SECONDS:
                told, self._told = self._told, told
            watched = list(self._watched.values())
        # No lock from here on: looking at a dead server may take minutes, stopping must not.
        changed = set()
        self._types.clear()
        for state in fresh:
            self._arm(state, now)
            state.seen = self._look_at(state)
            changed.add(state.path)
        for state in watched:
            if not told.isdisjoint(state.names):
                state.notified(self._look_at(state), now)
                self._follow_link(state, now)
                changed.add(state.path)
            elif state.due <= now and self._is_changed(state, now):
                changed.add(state.path)
        self._give_up_directories(told & self._directories, watched, now)
        return changed

    def _look_at(self, state: WatchedPath) -> Look | None:
        return self._look(state.path, fresh=state.is_remote)

    def _is_changed(self, state: WatchedPath, now: float) -> bool:
        current = self._look_at(state)
        with self._wake:
            if not self._told.isdisjoint(state.names):
                state.due = now + REST_SECONDS
                return False
        is_changed = state.looked(current, now)
        if state.awaits_directory and current is not None:
            self._arm(state, now)
        return is_changed

    def _arm(self, state: WatchedPath, now: float) -> None:
        """Decide how a path is watched, and begin."""
        place = os.path.abspath(state.path)
        parent = os.path.realpath(os.path.dirname(place))
        named, target = os.path.join(parent, os.path.basename(place)), os.path.realpath(place)
        home = os.path.dirname(target)
        if home not in self._types:
            self._types[home] = self._file_system(home)
        file_system = self._types[home]
        state.is_remote = is_silent_type(file_system)
        state.awaits_directory = False
        if self._poll_seconds is not None:
            state.poll("polling was asked for", now, seconds=self._poll_seconds)
        elif state.is_remote:
            state.poll(f"inotify is silent on {file_system}", now)
        else:
            state.names = frozenset({named, target})
            with self._wake:
                self._names |= {named, target, parent, home}
            try:
                for directory in (parent, home):
                    self._watch_directory(directory)
                state.trust_inotify(now)
            except OSError as error:
                state.poll(_WATCH_ERRORS.get(error.errno or 0, f"no inotify: {error}"), now)
                state.awaits_directory = error.errno in (errno.ENOENT, errno.ENOTDIR)
            except (ImportError, RuntimeError) as error:
                # No watchdog, or no thread to be had under this user's limits.
                state.poll(f"no inotify: {error}", now)

    def _watch_directory(self, directory: str) -> None:
        if directory in self._directories:
            return
        if self._notifier is None:
            self._notifier = self._new_notifier()
        self._notifier.watch(directory)
        self._directories.add(directory)

    def _follow_link(self, state: WatchedPath, now: float) -> None:
        """Watch where a symbolic link points now."""
        if state.interval is None and os.path.realpath(state.path) not in state.names:
            self._arm(state, now)

    def _give_up_directories(
        self, gone: set[str], watched: Iterable[WatchedPath], now: float
    ) -> None:
        """A removed directory takes its watch along; a new one of that name needs another."""
        self._directories -= gone
        for state in watched:
            if any(os.path.dirname(name) in gone for name in state.names):
                state.poll("its directory was removed", now)
                state.awaits_directory = True

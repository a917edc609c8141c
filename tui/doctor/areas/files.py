"""The file systems of the given paths, and how logs on them would be followed."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mltd.runs.sources.looks import kind_of
from mltd.runs.sources.mounts import file_system_type
from mltd.runs.sources.watched_path import FASTEST_SECONDS, SAFETY_SECONDS, SLOWEST_SECONDS

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings
from . import clock, room

AREA = "files"
SLOW = 0.5
"""Seconds for one look at a path; slower than this is felt."""
MOST_ENTRIES = 500
_ANY = "any.log"
"""Of a directory the app follows the files within; this one need not exist."""
_REMOTE = re.compile(r"ssh://|[^/]+:")

_line = partial(Line, AREA)


def checks(paths: tuple[str, ...]) -> list[Check]:
    """A check for each path, so that one dead mount holds up no other."""
    return [
        Check(
            AREA,
            path,
            partial(look, path=path),
            late_state=State.PROBLEM,
            late_advice="its file server does not answer: ask those who run it, or try again",
        )
        for path in dict.fromkeys(paths)
    ]


def look(around: Surroundings, path: str) -> Iterator[Line]:
    """Is it there and readable, is it quick, and who tells when it changes?"""
    began = time.monotonic()
    try:
        path = os.getcwd() if path == os.curdir else path
        found = os.stat(path)
    except OSError as error:
        yield _unusable(path, error)
        return
    except ValueError as error:
        yield _line(State.PROBLEM, f"{path} is no path: {error}", "correct it")
        return
    if fault := _fault(path, found):
        yield fault
        return
    is_folder = stat.S_ISDIR(found.st_mode)
    newest = _newest(path) if is_folder else (os.path.basename(path), found.st_mtime)
    seconds = time.monotonic() - began
    watched = Path(path, _ANY) if is_folder else Path(path)
    yield following(path, file_system_type(path), watched, around.poll_seconds)
    if seconds > SLOW:
        yield _line(
            State.WARNING,
            f"{path} took {seconds:.1f} s to answer",
            "expect new lines to come late; copy the log to a faster place if that hurts",
        )
    yield from room.low_space(AREA, path)
    if newest is not None:
        yield from clock.from_the_future(*newest, time.time())


def following(path: str, file_system: str, watched: Path, seconds: float | None) -> Line:
    """Watch it as the app would, and say what came of that."""
    # Not at the top: only this check needs the watcher, and with it watchdog.
    from mltd.runs.sources.watcher import Watcher

    with Watcher([watched], seconds) as watcher:
        watcher.wait(0)
        mode, note = watcher.modes()[watched], watcher.notes().get(watched, "")
    kind = file_system or "a file system of unknown type"
    if not note:
        often = f"and a look every {SAFETY_SECONDS:g} s"
        return _line(State.OK, f"{path} is on {kind}: followed by inotify {often}")
    polled = f"every {FASTEST_SECONDS:g} to {SLOWEST_SECONDS:g} s"
    if seconds is not None:
        polled = mode.replace("poll", "every")
    said = f"{path} is on {kind}: looked at {polled}, as {note}"
    if "limit" in note or note.startswith("no inotify"):
        return _line(State.WARNING, said, "see inotify below; nothing is lost, it is only slower")
    if file_system == "fuse.sshfs":
        return _line(State.OK, said, "`mltd-tui HOST:PATH` follows it without the mount")
    return _line(State.OK, said)


def _unusable(path: str, error: OSError) -> Line:
    if isinstance(error, FileNotFoundError) and _REMOTE.match(path):
        return _line(
            State.PROBLEM,
            f"{path} is not on this machine",
            "call the doctor there: `ssh HOST mltd-tui doctor PATH`",
        )
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if path == os.curdir:
            return _line(State.PROBLEM, "the current directory was removed", "`cd` elsewhere")
        return _line(State.PROBLEM, f"{path} does not exist", "give a file or a directory")
    return _line(State.PROBLEM, f"{path}: {error.strerror or error}", "mend the mount or its modes")


def _fault(path: str, found: os.stat_result) -> Line | None:
    is_folder = stat.S_ISDIR(found.st_mode)
    if not is_folder and (kind := kind_of(found.st_mode)):
        return _line(State.PROBLEM, f"{path} is {kind}", "give a file or a directory")
    if not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
        what = "listed" if is_folder else "read"
        return _line(
            State.PROBLEM, f"{path} may not be {what}", "ask its owner: `chmod g+rX`, or a copy"
        )
    return None


def _newest(folder: str) -> tuple[str, float] | None:
    """The entry of a directory that was changed last, among the first few hundred."""
    newest: tuple[str, float] | None = None
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number == MOST_ENTRIES:
                break
            try:
                changed = entry.stat(follow_symlinks=False).st_mtime
            except OSError:
                continue
            if newest is None or changed > newest[1]:
                newest = (entry.name, changed)
    return newest

"""The state directory, where sessions are kept: can it be written, and by nobody else?"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mltd.runs.sources.mounts import file_system_type
from mltd.runs.state_files import private_folder

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings
from . import clock, room

AREA = "state"
TRIAL_BYTES = 2**20
"""More than a journal grows in a day; a quota that is nearly used up shows."""
SLOW = 1.0
"""Seconds until a small file is safe on disk; every step of a triage waits as long."""
_PREFIX = ".doctor-"
_LEFT_BEHIND = 60.0
"""Seconds after which a trial file belongs to a doctor that was killed."""
_ELSEWHERE = "or choose another place with `export XDG_STATE_HOME=DIRECTORY`"
_ADVICE = {
    errno.EDQUOT: f"your quota is used up (`quota -s` tells): make room, {_ELSEWHERE}",
    errno.ENOSPC: f"make room there, {_ELSEWHERE}",
    errno.EROFS: "`export XDG_STATE_HOME=DIRECTORY` to a place that can be written",
}

_line = partial(Line, AREA)


class Trial(NamedTuple):
    """How it went to write a file: this machine's time before and after, the file's between."""

    before: float
    stamp: float
    after: float
    seconds: float


def directory(around: Surroundings) -> Iterator[Line]:
    """Really write, as saying so would prove nothing on a network file system."""
    folder = around.state
    try:
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        if not missing:
            yield from modes(folder)
        trial = attempt(folder, missing)
        space = room.room_at(_existing(folder)).space
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, f"make it yours and writable, {_ELSEWHERE}")
        yield _line(State.PROBLEM, f"{folder} cannot be written: {error.strerror or error}", advice)
        return
    kind = file_system_type(folder)
    made = ", which the first session makes" if missing else ""
    free = "" if space is None else f", {room.shown(space)} free"
    said = f"{folder}{made}: can be written{free}"
    if trial.seconds > SLOW:
        yield _line(
            State.WARNING,
            f"{said}, but saving takes {trial.seconds:.1f} s",
            "`export XDG_STATE_HOME=DIRECTORY` to a faster place",
        )
    elif kind in ("tmpfs", "ramfs"):
        yield _line(
            State.WARNING,
            f"{said}, but it is on {kind}: sessions are lost at the next boot",
            "`export XDG_STATE_HOME=DIRECTORY` to a place that lasts",
        )
    else:
        yield _line(State.OK, said)
    yield from room.low_space(AREA, _existing(folder))
    yield clock.skew(trial.before, trial.stamp, trial.after)


def modes(folder: Path) -> Iterator[Line]:
    """A line if the directory is not ours, or others can look into it."""
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        yield _line(State.PROBLEM, f"{folder} is no directory", "move it out of the way")
    elif found.st_uid != os.geteuid():
        yield _line(
            State.PROBLEM,
            f"{folder} belongs to another user (number {found.st_uid})",
            f"have it given back: `chown -R {os.geteuid()} {folder}`",
        )
    elif found.st_mode & 0o077:
        yield _line(
            State.WARNING,
            f"{folder} is open to others: its mode is {stat.S_IMODE(found.st_mode):04o}",
            f"`chmod 700 {folder}`",
        )


def attempt(folder: Path, missing: list[Path]) -> Trial:
    """Write a private file, see it safely on disk and remove it; OSError if that fails."""
    began = time.monotonic()
    try:
        if missing:
            private_folder(folder)
        _clear(folder)
        before = time.time()
        handle, name = tempfile.mkstemp(prefix=_PREFIX, dir=folder)
        try:
            left = TRIAL_BYTES
            while left:
                left -= os.write(handle, bytes(left))
            os.fsync(handle)
            stamp = os.fstat(handle).st_mtime
            after = time.time()
        finally:
            os.close(handle)
            os.unlink(name)
    finally:
        # Looking leaves nothing behind: innermost first, and only what was not there before.
        for place in missing:
            with contextlib.suppress(OSError):
                place.rmdir()
    return Trial(before, stamp, after, time.monotonic() - began)


def _clear(folder: Path) -> None:
    """Remove the trial files of doctors that were killed."""
    for path in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _LEFT_BEHIND:
                path.unlink()


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())


CHECKS = (
    Check(
        AREA,
        "the state directory",
        directory,
        late_state=State.PROBLEM,
        late_advice="its file server does not answer: `export XDG_STATE_HOME=DIRECTORY` elsewhere",
    ),
)

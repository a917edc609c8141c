"""Can one ssh connection be shared? That takes a socket with a short name in a private place."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "ssh"
LONGEST = 107
"""Bytes in the name of a socket on Linux."""
TOKEN = 40
"""Length of `%C`, the name that ssh gives to a connection."""
SUFFIX = 17
"""A dot and 16 characters, which ssh adds while it makes the socket."""
_ADVICE = "`export XDG_RUNTIME_DIR=DIRECTORY` to a short, local one of mode 0700"

_line = partial(Line, AREA)


def runtime_folder(around: Surroundings) -> Path:
    """Where sockets would be made."""
    named = around.environment.get("XDG_RUNTIME_DIR")
    return Path(named or around.environment.get("TMPDIR") or tempfile.gettempdir())


def sharing(around: Surroundings) -> Iterator[Line]:
    """Make a socket as ssh would, and remove it."""
    if not around.find("ssh"):
        return
    folder = runtime_folder(around)
    try:
        if around.environment.get("XDG_RUNTIME_DIR") and folder.stat().st_uid != os.geteuid():
            yield _line(
                State.WARNING,
                f"connections cannot be shared: {folder} (XDG_RUNTIME_DIR) is not yours",
                "`unset XDG_RUNTIME_DIR`; `su` and `sudo` leave it behind",
            )
            return
        yield _tried(folder)
    except OSError as error:
        yield _line(
            State.WARNING,
            f"connections cannot be shared: no socket in {folder}: {error.strerror or error}",
            _ADVICE,
        )


def _tried(folder: Path) -> Line:
    room = LONGEST - len(os.fsencode(folder)) - len("/mltd-xxxxxxxx/") - TOKEN - SUFFIX
    if room < 0:
        return _line(
            State.WARNING,
            f"connections cannot be shared: {folder} is {-room} bytes too long for a socket",
            _ADVICE,
        )
    private = Path(tempfile.mkdtemp(prefix="mltd-", dir=folder))
    try:
        mode = stat.S_IMODE(private.stat().st_mode)
        if mode & 0o077:
            return _line(
                State.WARNING,
                f"connections cannot be shared: directories in {folder} get mode {mode:04o}",
                _ADVICE,
            )
        _make_socket(private)
    finally:
        for left in private.iterdir():
            with contextlib.suppress(OSError):
                left.unlink()
        private.rmdir()
    return _line(State.OK, f"one connection per host can be shared, by sockets in {folder}")


def _make_socket(folder: Path) -> None:
    """ssh binds under a passing name and links the socket to its own; some mounts allow neither."""
    name = folder / ("c" * TOKEN)
    passing = folder / ("c" * TOKEN + "." + "r" * (SUFFIX - 1))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fspath(passing))
        os.link(passing, name)


CHECKS = (Check(AREA, "the socket directory", sharing),)

"""Can one ssh connection be shared? That takes a socket with a short name in a private place."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mltd.runs.remote.problems import LinkError
from mltd.runs.remote.runtime import ADVICE, NAME, SUFFIX, runtime_folder

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "ssh"

_line = partial(Line, AREA)


def sharing(around: Surroundings) -> Iterator[Line]:
    """Make a socket as ssh would, where connections are really shared, and remove it."""
    if not around.find("ssh"):
        return
    try:
        folder = runtime_folder(around.environment)
    except LinkError as problem:
        yield _line(State.WARNING, f"connections cannot be shared: {problem.message}", ADVICE)
        return
    try:
        _make_socket(folder)
    except OSError as error:
        yield _line(
            State.WARNING,
            f"connections cannot be shared: no socket in {folder}: {error.strerror or error}",
            ADVICE,
        )
        return
    yield _line(State.OK, f"one connection per host can be shared, by sockets in {folder}")


def _make_socket(folder: Path) -> None:
    """ssh binds under a passing name and links the socket to its own; some mounts allow neither."""
    name = folder / f"{os.getpid():x}".rjust(NAME, "-")
    passing = name.with_name(name.name + "." + "r" * (SUFFIX - 1))
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.fspath(passing))
            os.link(passing, name)
    finally:
        for left in (name, passing):
            with contextlib.suppress(OSError):
                left.unlink()
        with contextlib.suppress(OSError):
            folder.rmdir()  # stays where an app has ever been connected


CHECKS = (Check(AREA, "the socket directory", sharing),)

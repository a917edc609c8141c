"""The checks in a process of their own, which can be left behind.

A thread that looks at a dead FUSE or cluster mount may wait in the kernel where not even `kill -9`
reaches it, and a process ends only when all its threads have ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

from ..terminal import own_environment
from .check import DEADLINE, examine
from .checks import all_checks
from .line import Line, State, grouped
from .programs import end_all
from .surroundings import here, terminal_size

GRACE = 2.0
"""Seconds more for a process that is slow to start on a busy machine."""
LEAST = 1.0
"""Seconds that the checks get even if it was."""
_GONE = Line(
    "doctor",
    State.PROBLEM,
    "no check came to an end",
    "something that all of them need does not answer, such as the home directory: try `df`",
)


class Answer(NamedTuple):
    """What there is to tell, and whether the terminal shows Unicode."""

    lines: list[Line]
    is_unicode: bool


class _Work(NamedTuple):
    """What the process is to do."""

    paths: tuple[str, ...]
    size: tuple[int, int] | None
    end: float
    """When it is to be done, by the clock that all processes share."""


def look_apart(paths: tuple[str, ...], seconds: float = DEADLINE) -> Answer:
    """Do all checks elsewhere; whatever hangs, the answer comes in time."""
    end = time.monotonic() + seconds
    work = _Work(paths, terminal_size(), end)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, json.dumps(work)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            # Not ours: if it stays, whoever reads what we print would wait for its end.
            stderr=subprocess.DEVNULL,
            env=own_environment(),
        )
    except OSError:
        # No more processes for this user: then here, with all risks.
        return _look(work)
    try:
        said = _first_line(process, end + GRACE)
        return _unpacked(said) if said else Answer([_GONE], is_unicode=False)
    finally:
        # First the word that lets it end the programs it asked; neither for long: it may never go.
        for tell, patience in ((process.terminate, 1.0), (process.kill, 0.1)):
            tell()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)
        if process.stdout is not None:
            process.stdout.close()


def _first_line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """What the process says up to the end of a line: its output may never be closed."""
    assert process.stdout is not None
    handle = process.stdout.fileno()
    said = b""
    while not said.endswith(b"\n"):
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([handle], [], [], left)
        piece = os.read(handle, 1 << 16) if ready else b""
        if not piece:
            return b""
        said += piece
    return said


def _look(work: _Work) -> Answer:
    around = here(work.paths, work.size)
    seconds = max(LEAST, work.end - time.monotonic())
    # Programs are given up before the checks are: nobody would end them afterwards.
    around = replace(around, patience=min(around.patience, 0.8 * seconds))
    lines = examine(all_checks(around.paths), around, seconds)
    return Answer(grouped(lines), around.terminal.is_unicode)


def _packed(answer: Answer) -> bytes:
    return json.dumps(answer).encode() + b"\n"


def _unpacked(data: bytes) -> Answer:
    lines, is_unicode = json.loads(data)
    return Answer([Line(a, State(s), fact, advice) for a, s, fact, advice in lines], is_unicode)


def main(words: Sequence[str]) -> None:
    """Look, tell on stdout, and leave without waiting for anything."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    paths, size, end = json.loads(words[0])
    work = _Work(tuple(paths), None if size is None else (size[0], size[1]), end)
    # A thread for each of a login node's hundred cores would be too much for a settings file.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.stdout.buffer.write(_packed(_look(work)))
    sys.stdout.flush()
    _leave()


def _leave() -> NoReturn:
    """Go without waiting for threads; what they wait for goes too."""
    end_all()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])

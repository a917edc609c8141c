"""Asking another program: it gets no input, and only so much time."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

_LAST_WAIT = 0.2
"""Seconds for a program to go after it was killed; one that hangs in the kernel never does."""
_running: set[int] = set()
"""Process groups of programs that have not answered yet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it; `code` is None if the program was not there, not started or too late."""

    code: int | None
    output: str = ""
    errors: str = ""
    is_missing: bool = False
    is_late: bool = False
    """True if it was killed; `errors` holds what it had said until then."""

    @property
    def is_good(self) -> bool:
        """True if the program did what it was asked."""
        return self.code == 0

    @property
    def first_words(self) -> str:
        """The first line that it printed, wherever."""
        lines = (self.output + "\n" + self.errors).splitlines()
        return next((line.strip() for line in lines if line.strip()), "")

    @property
    def complaint(self) -> str:
        """Its last word about what is wrong; programs tell the particulars before."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        if lines:
            return lines[-1]
        return "no reason given" if self.code is None else f"exit code {self.code}"


def find(program: str, environment: Mapping[str, str]) -> str | None:
    """Where a program is, by the PATH of this environment."""
    return shutil.which(program, path=environment.get("PATH") or os.defpath)


def ask(
    words: tuple[str, ...], environment: Mapping[str, str], seconds: float, folder: str = "/"
) -> Answer:
    """Run a program to its end, or kill it and all that it started when the time is over."""
    program = find(words[0], environment)
    if program is None:
        return Answer(None, is_missing=True)
    try:
        process = subprocess.Popen(
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            # A group of its own, so that its children can be ended with it, and no terminal
            # that it could put a question to.
            start_new_session=True,
        )
    except OSError as error:
        return Answer(None, errors=f"{program} cannot be started: {error.strerror or error}")
    _running.add(process.pid)
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as late:
        _end(process)
        # Bytes, whatever the encoding asked for.
        said = late.stderr.decode("utf-8", "replace") if isinstance(late.stderr, bytes) else ""
        return Answer(None, errors=said, is_late=True)
    finally:
        _running.discard(process.pid)
    return Answer(process.returncode, output, errors)


def end_all() -> None:
    """Kill what has not answered, before whoever waits for it is gone."""
    for group in tuple(_running):
        _kill(group)


def _kill(group: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)


def _end(process: subprocess.Popen[str]) -> None:
    _kill(process.pid)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LAST_WAIT)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()

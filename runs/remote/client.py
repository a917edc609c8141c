"""The ssh client of this machine: how it is called, and what its configuration says of a host.

`MLTD_SSH` may hold another command, in words as in a shell: `MLTD_SSH="ssh -F my_config"`.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import IO, NamedTuple

from .address import Host
from .problems import LinkError, LinkKind, explain, not_installed, too_late

VARIABLE = "MLTD_SSH"
REMOTE_COMMAND = "exec sh"
"""All that a log-in shell over there ever gets to read; csh and fish know it too."""
CONNECT_SECONDS = 15
SHELL_SECONDS = 30.0
"""For a shell that has begun to print, until it answers."""
MOST_OUTPUT = 1 << 20
"""Bytes that a call may print: a log-in shell may say a lot before it answers."""
LOCAL_SECONDS = 10.0
"""For what needs no network, but may run commands that `Match exec` names."""

_LAST_WAIT = 2.0
_GLANCE = 0.2
"""Seconds between two looks at how much a call has printed."""
_OPTIONS = (
    "ServerAliveInterval=5",  # with the next one: a dead link is noticed within 20 s
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "RequestTTY=no",
    "PermitLocalCommand=no",
    "EscapeChar=none",
    "LogLevel=INFO",
)
# Clients that do not know these refuse them, so they are undone only where they are set.
_UNDONE = {
    "remotecommand": "none",
    "sessiontype": "default",
    "stdinnull": "no",
    "forkafterauthentication": "no",
}


class Answer(NamedTuple):
    """What came of a call; `code` is None if it took too long, or printed too much."""

    code: int | None
    output: bytes
    errors: bytes
    is_endless: bool = False
    """It was ended because it printed more than any answer has."""


def ssh_words() -> list[str]:
    """The words with which every call of ssh begins."""
    try:
        return shlex.split(os.environ.get(VARIABLE, "")) or ["ssh"]
    except ValueError as error:
        raise LinkError(
            f"{VARIABLE} is not a command: {error}",
            hint="write it as in a shell",
            kind=LinkKind.CONFIGURATION,
        ) from None


def call(argv: Sequence[str], seconds: float, script: bytes = b"") -> Answer:
    """Run ssh without a terminal, so that it can ask nothing, and end it when the time is over."""
    # Into files, because a master outlives the call, and those of old clients hold on to the
    # other end of a pipe.
    with contextlib.ExitStack() as stack:
        given, output, errors = (
            stack.enter_context(tempfile.TemporaryFile()) for _ in ("in", "out", "err")
        )
        given.write(script)
        given.seek(0)
        try:
            process = subprocess.Popen(
                argv,
                stdin=given,
                stdout=output,
                stderr=errors,
                # BatchMode does not reach the ssh of a jump host: it gets nothing to ask with.
                start_new_session=True,
                env={**os.environ, "SSH_ASKPASS_REQUIRE": "never", "SSH_ASKPASS": ""},
            )
        except OSError as error:
            raise not_installed(argv[0], error) from None
        try:
            code = wait(process, seconds, (output, errors))
        finally:
            end(process)
        is_endless = printed((output, errors)) > MOST_OUTPUT
        output.seek(0)
        errors.seek(0)
        return Answer(code, output.read(MOST_OUTPUT), errors.read(MOST_OUTPUT), is_endless)


def wait(
    process: subprocess.Popen[bytes], seconds: float | None, files: Sequence[IO[bytes]]
) -> int | None:
    """The exit code of a call; None if it takes too long or prints too much into the files.

    Without `seconds` a log-in has all the time that people need, but a shell that is there and
    has printed something has to answer as fast as any other.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        if deadline is None and printed(files):
            deadline = time.monotonic() + SHELL_SECONDS
        left = _GLANCE if deadline is None else min(_GLANCE, deadline - time.monotonic())
        if left <= 0 or printed(files) > MOST_OUTPUT:
            return None
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(left)


def printed(files: Sequence[IO[bytes]]) -> int:
    """Bytes in files that a call prints into."""
    return sum(os.fstat(file.fileno()).st_size for file in files)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a call that may still run, so that it can clean up if it wants."""
    for stop in (process.terminate, process.kill):
        if process.poll() is not None:
            return
        stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_WAIT)


def configuration(host: Host) -> dict[str, str]:
    """What the user's configuration comes to for a host; the first of several values."""
    answer = call([*ssh_words(), "-G", *host.target], LOCAL_SECONDS)
    if answer.code is None:
        raise too_late(host, LOCAL_SECONDS)
    if answer.code != 0:
        raise explain(answer.errors, host, code=255)
    settings: dict[str, str] = {}
    for line in answer.output.decode("utf-8", "surrogateescape").splitlines():
        key, _, value = line.partition(" ")
        settings.setdefault(key.lower(), value)
    return settings


def options(settings: dict[str, str]) -> list[str]:
    """The options of every call that goes over there, given the user's configuration."""
    chosen = list(_OPTIONS)
    if settings.get("connecttimeout", "none") in ("none", "0", ""):
        chosen.append(f"ConnectTimeout={CONNECT_SECONDS}")
    for key, neutral in _UNDONE.items():
        if settings.get(key, neutral) != neutral:
            chosen.append(f"{key}={neutral}")
    return [word for option in chosen for word in ("-o", option)]

"""Standard input as a growing file, so that a pipe can be scrolled and followed like a log.

train.py 2>&1 | mltd-tui -
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Self

from mltd.runs.errors import InputError
from mltd.runs.owned_folder import TempFolder, lock_of

_COPY = """
import os, select, shutil, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
life, folder, lock, path = int(sys.argv[1]), *sys.argv[2:]
target = os.open(path, os.O_WRONLY | os.O_APPEND)
sources = [0, life]
while True:
    ready = select.select(sources, [], [])[0]
    if life in ready:
        shutil.rmtree(folder, ignore_errors=True)
        os.unlink(lock)
        break
    data = os.read(0, 1 << 20)
    if not data:
        break
    while data:
        data = data[os.write(target, data):]
"""
"""Copies until the pipe ends; removes the copy if the process that reads it is gone."""


class StdinSpool:
    """Copies what comes through the pipe into a private file; keys come from the terminal."""

    def __init__(self, *, takes_keys: bool = True) -> None:
        self._folder = TempFolder("stdin")
        self.path = self._folder.path / "standard input"
        os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        # Its other end is closed when this process ends, however it ends.
        life, self._life = os.pipe()
        folder = self._folder.path
        arguments = [str(life), *map(str, (folder, lock_of(folder), self.path))]
        # A process of its own: the writer upstream must never wait for a screen.
        self._copier = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _COPY, *arguments],
            stdin=sys.stdin.fileno(),
            pass_fds=[life],
        )
        os.close(life)
        if takes_keys:
            self._take_keys()

    def _take_keys(self) -> None:
        try:
            terminal = os.open("/dev/tty", os.O_RDWR)
        except OSError:
            self.close()
            raise InputError(
                "there is no terminal to take keys from", hint="try: ... | mltd-tui check -"
            ) from None
        os.dup2(terminal, sys.stdin.fileno())
        os.close(terminal)

    def is_over(self) -> bool:
        """True once the pipe has ended and all of it is in the file."""
        return self._copier.poll() is not None

    def close(self) -> None:
        """Stop copying and remove the file."""
        self._copier.kill()
        self._copier.wait()
        os.close(self._life)
        self._folder.close()

    def __enter__(self) -> Self:
        """Spool for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop, and clean up."""
        self.close()

"""Standard input as a growing file, so that a pipe can be scrolled and followed like a log.

train.py 2>&1 | mltd-tui -
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Self

from mltd.runs.errors import InputError


class StdinSpool:
    """Copies what comes through the pipe into a private file; keys come from the terminal."""

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="mltd-"))
        self.path = self._directory / "standard input"
        with self.path.open("wb") as file:
            # A process of its own: the writer upstream must never wait for a screen.
            self._copier = subprocess.Popen(["cat"], stdin=sys.stdin.fileno(), stdout=file)
        try:
            terminal = os.open("/dev/tty", os.O_RDWR)
        except OSError:
            self.close()
            raise InputError(
                "there is no terminal to take keys from", hint="try: ... | mltd-tui check -"
            ) from None
        os.dup2(terminal, sys.stdin.fileno())
        os.close(terminal)

    def close(self) -> None:
        """Stop copying and remove the file."""
        self._copier.kill()
        self._copier.wait()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        """Spool for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop, and clean up."""
        self.close()

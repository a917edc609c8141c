"""A command with a real terminal for its keys and its stderr, and a pipe for its output."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import threading

from .tmux import PATIENCE

_TAKE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """The command with a real terminal for keys and stderr, and a pipe for its output."""

    def __init__(self, *arguments: str) -> None:
        self._own, theirs = pty.openpty()
        command = [sys.executable, "-m", "mltd.tui.cli", *arguments]
        # A session of its own, so that the terminal is its own and Ctrl+C on it is a signal.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, *command],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.seen = ""
        self._out: list[bytes] = []
        assert self._process.stdout is not None
        self._reader = threading.Thread(
            target=lambda out: self._out.append(out.read()), args=(self._process.stdout,)
        )
        self._reader.start()

    def wait_for(self, words: str) -> None:
        while words not in self.seen:
            piece = self._read()
            assert piece, f"ended without {words!r}: {self.seen}"

    def press(self, keys: str) -> None:
        os.write(self._own, keys.encode())

    def end(self) -> tuple[int, str]:
        """Exit code and output, once it has ended."""
        while self._read():
            pass
        code = self._process.wait(60)
        self._reader.join(60)
        os.close(self._own)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code, b"".join(self._out).decode()

    def _read(self) -> str:
        if not select.select([self._own], [], [], PATIENCE)[0]:
            self._process.kill()
            raise AssertionError(f"nothing came for {PATIENCE:.0f} s after: {self.seen}")
        try:
            piece = os.read(self._own, 65536).decode(errors="replace")
        except OSError:
            return ""  # the other side has closed it
        self.seen += piece
        return piece

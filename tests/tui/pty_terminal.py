"""A command with a real terminal for its keys and its stderr, and a pipe for its output."""

from __future__ import annotations

import os
import pty
import select
import threading

from tests import warm_python
from tests.waiting import PATIENCE


class Terminal:
    """The command with a real terminal for keys and stderr, and a pipe for its output."""

    def __init__(self, *arguments: str) -> None:
        self._own, theirs = pty.openpty()
        output, written = os.pipe()
        self._process = warm_python.start(
            "mltd.tui.cli",
            *arguments,
            stdin=theirs,
            stdout=written,
            stderr=theirs,
            is_terminal=True,
        )
        os.close(theirs)
        os.close(written)
        self.seen = ""
        self._out: list[bytes] = []
        self._reader = threading.Thread(target=self._read_output, args=(output,))
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
        code = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        os.close(self._own)
        return code, b"".join(self._out).decode()

    def _read_output(self, descriptor: int) -> None:
        with open(descriptor, "rb") as output:
            self._out.append(output.read())

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

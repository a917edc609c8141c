"""Calls of ssh that may ask in the plain terminal: passwords, one-time codes, host keys."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import termios
import threading
from collections.abc import Iterator, Sequence

from .client import MOST_OUTPUT, Answer, end, printed, wait
from .problems import not_installed

_QUIET_SECONDS = 0.1
"""After its end: what ssh itself has said is there by then, if nobody else holds the pipe."""


def call_asking(argv: Sequence[str], script: bytes) -> Answer:
    """Run ssh on the terminal, for as long as people type; its words are shown and kept."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, kept_terminal():
        given.write(script)
        given.seek(0)
        reading, writing = os.pipe()
        try:
            # ssh asks on /dev/tty, so only its messages come through the pipe.
            process = subprocess.Popen(argv, stdin=given, stdout=output, stderr=writing)
        except OSError as error:
            os.close(reading)
            raise not_installed(argv[0], error) from None
        finally:
            os.close(writing)
        messages = _Messages(reading)
        try:
            code = wait(process, None, (output,))
        finally:
            end(process)
            messages.stop()
        if code == -signal.SIGINT:
            raise KeyboardInterrupt
        is_endless = printed((output,)) > MOST_OUTPUT
        output.seek(0)
        return Answer(code, output.read(MOST_OUTPUT), messages.text, is_endless)


class _Messages:
    """What comes through a pipe, shown at once.

    The other end may stay open for as long as the connection lives: the masters of old clients
    hold on to it. So nobody waits for its end, and whatever is said later is read, lest they
    break, but not shown.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._pieces: list[bytes] = []
        self._length = 0
        self._is_shown = True
        self._thread = threading.Thread(target=self._read, name="messages of ssh", daemon=True)
        self._thread.start()

    @property
    def text(self) -> bytes:
        """What was said until `stop`; of an endless stream, its beginning."""
        return b"".join(self._pieces)

    def stop(self) -> None:
        """Wait for what is on its way."""
        self._thread.join(_QUIET_SECONDS)
        self._is_shown = False

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(self._pipe, 1 << 16):
                if self._is_shown:
                    self._length += len(piece)
                    if self._length <= MOST_OUTPUT:
                        self._pieces.append(piece)
                    _show(piece)
        os.close(self._pipe)


def _show(piece: bytes) -> None:
    """To the terminal, past any buffer, because a question may come next."""
    with contextlib.suppress(OSError):
        while piece:
            piece = piece[os.write(2, piece) :]


@contextlib.contextmanager
def kept_terminal() -> Iterator[None]:
    """Leave the terminal as it was found, though ssh was interrupted while it hid what is typed."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        before = termios.tcgetattr(terminal)
        try:
            yield
        finally:
            # From the background this would stop us.
            if os.tcgetpgrp(terminal) == os.getpgrp():
                termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    finally:
        os.close(terminal)

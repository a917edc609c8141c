"""Textual's driver, made to survive a terminal that goes away."""

from __future__ import annotations

import contextlib
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Leaves in good order also after a hang-up."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._file: Any = _Output(self._file)

    def _sigcont_application(self, *_: Any) -> None:
        # A hang-up sends SIGCONT too, to processes that were never stopped.
        if self._must_signal_resume:
            super()._sigcont_application()


class _Output:
    """A file whose writing never fails: the thread that writes must not die of a lost terminal,
    for then everybody who writes would wait for it."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._file.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

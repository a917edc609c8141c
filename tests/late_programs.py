"""Time for a program to do what it does before it is given up, on however slow a machine."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_until


def await_beginning(monkeypatch: pytest.MonkeyPatch, sign: Path) -> None:
    """Let the time of every program begin when something stands in the file `sign`."""
    communicate = subprocess.Popen.communicate

    def patient(self: subprocess.Popen[Any], given: Any = None, timeout: Any = None) -> Any:
        # A shell does not say when it has written.
        wait_until(lambda: sign.exists() and sign.stat().st_size, "the program never began")
        return communicate(self, given, timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", patient)

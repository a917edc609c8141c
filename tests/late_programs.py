"""Time for a program to do what it does before it is given up, on however slow a machine."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60.0


def await_beginning(monkeypatch: pytest.MonkeyPatch, sign: Path) -> None:
    """Let the time of every program begin when something stands in the file `sign`."""
    communicate = subprocess.Popen.communicate

    def patient(self: subprocess.Popen[Any], given: Any = None, timeout: Any = None) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not sign.exists() or not sign.stat().st_size:
            assert time.monotonic() < deadline, "the program never began"
            time.sleep(0.005)  # a shell does not say when it has written
        return communicate(self, given, timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", patient)

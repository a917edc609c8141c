"""Killed at any moment, in the middle of anything, and many at once: nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .murder import SCENARIOS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_is_lost(scenario: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.sessions.storage.murder", scenario, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

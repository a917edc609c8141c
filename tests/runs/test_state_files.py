"""Where the app keeps its own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.state_files import state_directory


@pytest.mark.parametrize("said", ["", "state", "./here"])
def test_a_state_directory_that_is_not_absolute_is_none(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", said)
    assert state_directory() == own_home / ".local" / "state" / "mltd"

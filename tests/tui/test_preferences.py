"""What is remembered survives, stays private, and never stands in the way."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from mltd.tui.preferences import Memory, Preferences


@pytest.fixture
def path(own_home: Path) -> Path:
    return own_home / ".local" / "state" / "mltd" / "preferences.json"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_choices_survive_and_are_private_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        assert Memory().remember(theme="light", hints_seen=2) == ""
    finally:
        os.umask(before)
    assert Memory().preferences == Preferences(theme="light", hints_seen=2)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_narrow_umask_does_no_harm(path: Path) -> None:
    before = os.umask(0o777)
    try:
        Memory().remember(hints_seen=3)
    finally:
        os.umask(before)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


def test_another_window_is_not_overruled(path: Path) -> None:
    one, other = Memory(), Memory()
    one.remember(theme="light")
    other.remember(hints_seen=2)
    assert Memory().preferences == Preferences(theme="light", hints_seen=2)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1]", "\0", "[" * 100_000],
    ids=["empty", "open", "list", "binary", "deep"],
)
def test_a_broken_file_is_ignored_with_a_notice_and_replaced(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    memory = Memory()
    assert memory.preferences == Preferences()
    assert str(path) in memory.notice
    assert memory.remember(hints_seen=4) == ""
    again = Memory()
    assert again.notice == ""
    assert again.preferences.hints_seen == 4


def test_values_of_another_kind_are_ignored_one_by_one(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"theme": 3, "hints_seen": 2, "x": 1}))
    memory = Memory()
    assert memory.preferences == Preferences(hints_seen=2)
    assert memory.notice == ""


def test_a_place_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "preferences.json")
    assert "cannot be remembered" in memory.remember(theme="light")
    assert memory.remember(hints_seen=4) == ""
    assert memory.preferences == Preferences(theme="light", hints_seen=4)


def test_nothing_half_written_is_left_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    memory.remember(theme="light")

    def fail(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert "No space left" in memory.remember(theme="dark")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert Memory().preferences.theme == "light"

"""The tables of the configuration file that the screen reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs import settings as run_settings
from mltd.runs.errors import SettingsError
from mltd.tui import settings
from mltd.tui.settings import ScreenSettings

EXAMPLE = """
[roles]
"my objective" = "train/loss"
[screen]
theme = "light"
unicode = false
bell = true
desktop_notifications = "osc9"
[keys]
"log.follow" = "e,end"
log.wrap = "W"
"""


def write(home: Path, text: str) -> Path:
    path = home / ".config" / "mltd" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_both_readers_of_the_file_take_their_own_tables(own_home: Path) -> None:
    write(own_home, EXAMPLE)
    keys = {"log.follow": "e,end", "log.wrap": "W"}
    assert settings.load() == ScreenSettings("light", False, True, "osc9", keys)
    assert run_settings.current().roles.overrides == {"my objective": "train/loss"}


def test_without_a_file_everything_is_as_usual() -> None:
    assert settings.load() == ScreenSettings()


def test_false_switches_desktop_notifications_off(own_home: Path) -> None:
    write(own_home, "[screen]\ndesktop_notifications = false\n")
    assert settings.load().desktop_notifications == ""


@pytest.mark.parametrize("name", ['"log.follow"', "log.follow"])
def test_a_mistake_in_keys_is_told_with_its_line(own_home: Path, name: str) -> None:
    path = write(own_home, f'[keys]\n\n{name} = "q"\n')
    assert settings.load().key_mistake("log.follow", "taken") == f"{path}:3: taken"


@pytest.mark.parametrize("text", ["[screen", "\udcff"])
def test_a_file_that_is_no_toml_is_named(own_home: Path, text: str) -> None:
    path = write(own_home, "")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SettingsError, match=r"config\.toml cannot be read"):
        settings.load()

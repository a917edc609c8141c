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


def test_false_switches_desktop_notifications_off() -> None:
    table = {"screen": {"desktop_notifications": False}}
    assert settings.parse(table, "c.toml").desktop_notifications == ""


def test_all_faults_are_told_at_once() -> None:
    table = {
        "screen": {"them": "dark", "bell": "loud", "desktop_notifications": True},
        "keys": {"log.follow": 3},
    }
    with pytest.raises(SettingsError) as told:
        settings.parse(table, "c.toml")
    for part in (
        "c.toml: screen.them is not known (did you mean theme?)",
        'screen.bell = "loud" must be true or false',
        'screen.desktop_notifications = true must be "osc9"',
        'keys."log.follow" = 3 must be a text',
        "docs/themes.md",
    ):
        assert part in str(told.value)


@pytest.mark.parametrize("text", ["[screen", "\udcff"])
def test_a_file_that_is_no_toml_is_named(own_home: Path, text: str) -> None:
    path = write(own_home, "")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SettingsError, match=r"config\.toml cannot be read"):
        settings.load()


def test_a_table_must_be_a_table() -> None:
    with pytest.raises(SettingsError, match=r"\[screen\] must be a table"):
        settings.parse({"screen": 3}, "c.toml")

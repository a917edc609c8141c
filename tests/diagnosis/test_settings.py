"""The table `[claude]`: what it may say, and who has the last word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.diagnosis.settings import ConsultSettings, load
from mltd.runs.errors import SettingsError


@pytest.fixture
def config(own_home: Path) -> Path:
    path = own_home / ".config" / "mltd" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_without_a_file_the_defaults_hold() -> None:
    assert load() == ConsultSettings()


def test_flag_before_environment_before_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('[claude]\nmodel = "from-file"\n')
    assert load().model == "from-file"
    monkeypatch.setenv("MLTD_MODEL", " from-environment ")
    assert load().model == "from-environment"
    assert load(model="from-flag").model == "from-flag"


def test_a_site_can_switch_it_off_for_good(config: Path) -> None:
    assert not load(is_disabled=True).is_enabled
    config.write_text("[claude]\nenabled = false\n")
    assert not load(model="x", is_disabled=False).is_enabled


def test_every_value_is_read(config: Path) -> None:
    config.write_text(
        "[claude]\npack_tokens = 9000\nbudget_tokens = 50000\nmax_dollars = 1\nseconds = 60\n"
        "rounds = 3\nanswer_tokens = 4096\nsources = ['~/code']\n[other]\nx = 1\n"
    )
    assert load() == ConsultSettings(
        pack_tokens=9000,
        budget_tokens=50_000,
        max_dollars=1,
        seconds=60,
        rounds=3,
        answer_tokens=4096,
        sources=(os.path.expanduser("~/code"),),
    )


def test_folders_of_code_are_named_by_flag_and_file(config: Path, tmp_path: Path) -> None:
    config.write_text("[claude]\nsources = ['/elsewhere', '/code']\n")
    named = load(sources=[str(tmp_path), f"{tmp_path}/"]).sources
    assert named == (str(tmp_path), "/elsewhere", "/code")
    with pytest.raises(SettingsError, match="there is no folder"):
        load(sources=[str(tmp_path / "slip")])


@pytest.mark.parametrize("content", [b"[claude", b"\xff"])
def test_a_file_that_cannot_be_read_is_told(config: Path, content: bytes) -> None:
    config.write_bytes(content)
    with pytest.raises(SettingsError):
        load()

"""The configuration file: found faulty by the same code that will read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.tui.doctor.areas.settings_file import config, themes
from mltd.tui.doctor.line import Line, State
from mltd.tui.doctor.surroundings import Surroundings

from .scene import only, states


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def look(path: Path) -> list[Line]:
    return list(config(Surroundings(config=path)))


def test_none_is_needed(path: Path) -> None:
    line = only(look(path))
    assert line.state is State.OK
    assert "as usual" in line.fact


def test_a_good_one_is_praised(path: Path) -> None:
    path.write_text('[screen]\ntheme = "light"\n[keys]\n"app.quit" = "f10"\n[follow]\n')
    assert only(look(path)).fact == f"{path}: readable and without mistakes"


def test_mistakes_of_all_readers_are_told(path: Path) -> None:
    path.write_text("[scren]\n[screen]\nbel = true\n[follow]\npoll_seconds = -1\n[claude]\nx = 1\n")
    lines = look(path)
    assert states(lines) == [State.WARNING] * 4
    assert lines[0].fact.startswith(f"{path}:1: unknown table [scren]")
    assert "did you mean bell?" in lines[1].fact
    assert "follow.poll_seconds" in lines[2].fact
    assert "unknown key x in [claude]" in lines[3].fact
    assert all(line.advice for line in lines)


def test_each_clashing_key_is_told(path: Path) -> None:
    path.write_text('[keys]\n"log.wrap" = "q"\n"log.follow" = "f7"\n')
    line = only(look(path))
    assert line.state is State.WARNING
    assert line.fact.startswith(f'{path}:2: keys."log.wrap" = "q": q belongs to "app.quit" already')


@pytest.mark.parametrize("content", [b"[screen\n", b"\xff\xfe"])
def test_one_that_is_no_toml_is_told_once(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    line = only(look(path))
    assert line.state is State.PROBLEM
    assert "cannot be read" in line.fact


def test_a_directory_in_its_place_is_told(path: Path) -> None:
    path.mkdir()
    assert only(look(path)).state is State.PROBLEM


def test_a_theme_and_a_command_that_do_not_exist_are_forgiven(path: Path) -> None:
    path.write_text('[screen]\ntheme = "pink"\n[keys]\n"app.qit" = "f10"\n')
    theme, keys = look(path)
    assert (theme.state, keys.state) == (State.WARNING, State.WARNING)
    assert "no theme called 'pink'" in theme.fact
    assert 'did you mean "app.quit"?' in keys.fact


def test_a_broken_theme_of_the_user_is_told(path: Path) -> None:
    assert list(themes(Surroundings(config=path))) == []
    folder = path.parent / "themes"
    folder.mkdir()
    (folder / "mine.toml").write_text("nonsense = [")
    line = only(themes(Surroundings(config=path)))
    assert line.state is State.WARNING
    assert "mine.toml" in line.fact

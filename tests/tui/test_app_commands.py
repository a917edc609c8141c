"""The whole app: help, palette, keymap, themes, hints and leaving."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from textual.command import CommandList, CommandPalette

from mltd.tui.app import HINTS, MltdApp
from mltd.tui.commands import PANES, owners
from mltd.tui.keymap import bindings_of
from mltd.tui.preferences import Memory
from mltd.tui.screens.help import HelpScreen
from mltd.tui.screens.main import MainScreen
from mltd.tui.settings import ScreenSettings, load
from mltd.tui.terminal import Terminal
from tests.tui.app_scene import (
    Stage,
    StandIn,
    diverging,
    forget_hints,
    piloted,
    served,
    staged,
    write_log,
)

HINT = "? all keys"


@pytest.fixture
def log(own_home: Path) -> Path:
    return write_log(own_home / "runs" / "train.log", diverging())


def configured(own_home: Path, text: str) -> ScreenSettings:
    folder = own_home / ".config" / "mltd"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)
    return load()


# -- help and palette ----------------------------------------------------------------------


@piloted
async def test_help_lists_what_there_is_and_closes(log: Path) -> None:
    async with served(log, size=(120, 60)) as stage:
        await stage.press("question_mark")
        assert isinstance(stage.app.screen, HelpScreen)
        for title, kind in owners(stage.app):
            assert title in str(stage.app.screen.query_one("#help-table").render())
            for binding in bindings_of(kind):
                assert binding.description in str(
                    stage.app.screen.query_one("#help-table").render()
                )
        await stage.press("escape")
        assert stage.is_main


@piloted
async def test_the_palette_lists_every_command_and_every_theme(log: Path) -> None:
    async with served(log) as stage:
        titles = [command.title for command in stage.app.get_system_commands(stage.main)]
        expected = [
            *(f"{pane}: {b.description}" for pane, kind in PANES for b in bindings_of(kind)),
            *(b.description for b in bindings_of(MainScreen, MltdApp) if b.description),
            *(f"Theme: {name}" for name in stage.app.themes.suited(stage.app.terminal)),
        ]
        assert titles == expected
        assert len([t for t in titles if t.startswith("Theme: ")]) == 6


@piloted
async def test_the_palette_lists_nothing_twice(log: Path) -> None:
    async with served(log) as stage:
        titles = [command.title for command in stage.app.get_system_commands(stage.main)]
        assert len(titles) == len(set(titles))


@piloted
async def test_a_command_is_run_from_the_palette(log: Path) -> None:
    async with served(log) as stage:
        await palette(stage, "next theme")
        assert stage.app.theme == "light"


@piloted
async def test_a_command_of_a_pane_brings_that_pane_into_view(log: Path) -> None:
    async with served(log) as stage:
        await stage.press("4")
        await palette(stage, "curves: smooth")
        assert stage.view == "overview"
        assert stage.main.curves._board.smoothing != "off"
        assert stage.focused == "curves"


async def palette(stage: Stage, typed: str) -> None:
    """Open the palette, type, and take the first hit."""
    await stage.press("ctrl+p")
    assert isinstance(stage.app.screen, CommandPalette)
    await stage.press(*({" ": "space", ":": "colon"}.get(key, key) for key in typed))
    hits = stage.app.screen.query_one(CommandList)
    await stage.until(lambda: hits.option_count)
    await stage.press("down", "enter")
    await stage.until(lambda: stage.is_main)


# -- keys of the user's own ----------------------------------------------------------------


@piloted
async def test_a_keymap_from_the_configuration_is_used_and_told(own_home: Path, log: Path) -> None:
    settings = configured(own_home, '[keys]\n"view.zoom" = "ctrl+o"\nlog.wrap = "W"\n')
    async with served(log, settings=settings, size=(120, 60)) as stage:
        assert stage.notices == []
        await stage.press("ctrl+o")
        assert stage.view == "log"
        await stage.press("z")
        assert stage.view == "log"
        await stage.press("W")
        assert stage.main.log_pane.wraps
        assert "W Wrap" in stage.text
        await stage.press("question_mark")
        lines = [line for line in stage.text.splitlines() if "Zoom" in line]
        assert any("^o" in line for line in lines), lines


@piloted
async def test_each_mistake_in_the_keymap_is_a_notice_and_the_other_keys_are_used(
    own_home: Path, log: Path
) -> None:
    keys = '"view.zom" = "x"\n"log.wrap" = "q"\n"view.zoom" = "ctrl+o"\n'
    settings = configured(own_home, f"[scren]\n[keys]\n{keys}")
    async with served(log, settings=settings) as stage:
        assert len(stage.notices) == 3
        assert ":1: unknown table [scren], ignored (did you mean [screen]?)" in stage.notices[0]
        assert ':3: keys."view.zom" is no command (did you mean "view.zoom"?)' in stage.notices[1]
        assert ':4: keys."log.wrap" = "q": q belongs to "app.quit" already' in stage.notices[2]
        assert '"log.wrap" stays on w' in stage.notices[2]
        await stage.press("ctrl+o")
        assert stage.view == "log"


@piloted
async def test_many_mistakes_are_counted(own_home: Path, log: Path) -> None:
    settings = configured(own_home, "\n".join(f"[x{n}]" for n in range(9)))
    async with served(log, settings=settings) as stage:
        assert stage.notices[-1] == "config.toml: 5 more; `mltd-tui doctor` lists all of them"
        assert len(stage.notices) == 5


# -- themes --------------------------------------------------------------------------------


@piloted
async def test_a_theme_chosen_by_key_is_remembered(log: Path) -> None:
    async with served(log) as stage:
        assert stage.app.theme == "dark"
        await stage.press("t")
        assert stage.app.theme == "light"
        assert stage.notices == ["theme: light"]
    assert Memory().preferences.theme == "light"
    async with served(log) as stage:
        assert stage.app.theme == "light"
    async with served(log, theme="colour-blind") as stage:
        assert stage.app.theme == "colour-blind"
    async with served(log, settings=ScreenSettings(theme="high-contrast")) as stage:
        assert stage.app.theme == "high-contrast"


@piloted
async def test_a_theme_of_the_users_own_joins(own_home: Path, log: Path) -> None:
    folder = own_home / ".config" / "mltd" / "themes"
    folder.mkdir(parents=True)
    (folder / "dusk.toml").write_text('dark = true\n[variables]\nchart-1 = "teal"\n')
    (folder / "broken.toml").write_text('dark = "perhaps"\n')
    async with served(log, theme="dusk") as stage:
        assert stage.app.theme == "dusk"
        assert stage.app.theme_variables["chart-1"] == "teal"
        assert [notice for notice in stage.notices if "broken.toml" in notice] == stage.notices
        await stage.press("t")
        assert stage.app.theme == "dark"


@piloted
async def test_without_colours_nothing_is_coloured_and_all_is_said(log: Path) -> None:
    async with served(log, terminal=Terminal(colours=0), theme="light") as stage:
        assert stage.app.theme == "mono"
        assert "✖ critical 3" in stage.text
        strips = stage.app.screen._compositor.render_strips()
        styles = [style for strip in strips for _, style, _ in strip if style is not None]
        assert {(style.color, style.bgcolor) for style in styles} <= {(None, None)}
        await stage.press("t")
        assert stage.app.theme == "mono"


@piloted
async def test_without_unicode_every_cell_is_ascii(log: Path) -> None:
    async with served(log, terminal=Terminal(is_unicode=False, colours=16)) as stage:
        await stage.drawn()
        for key in ("1", "2", "3", "5", "question_mark"):
            await stage.press(key)
            assert stage.text.isascii(), stage.text


# -- hints and leaving ---------------------------------------------------------------------


@piloted
async def test_newcomers_are_told_the_keys_for_the_first_starts_only() -> None:
    for _ in range(HINTS):
        async with staged(StandIn(), "none.log") as stage:
            assert HINT in stage.text
    async with staged(StandIn(), "none.log") as stage:
        assert HINT not in stage.text


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_it_is_left_by_key(log: Path, key: str) -> None:
    @piloted
    async def check() -> None:
        bridge = StandIn()
        async with staged(bridge, log) as stage:
            await stage.press(key)
            await stage.until(lambda: not stage.app.is_running)
        assert bridge.is_closed
        assert not stage.app.return_code

    check()


@piloted
async def test_control_c_leaves_even_from_a_dialog(log: Path) -> None:
    async with served(log) as stage:
        await stage.press("question_mark", "ctrl+c")
        await stage.until(lambda: not stage.app.is_running)


@piloted
async def test_choices_that_cannot_be_kept_are_told_once(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mltd.tui.preferences.replace_privately", full)
    async with served(log) as stage:
        await stage.press("t", "t")
        assert stage.app.theme == "high-contrast"
        told = [notice for notice in stage.notices if "cannot be remembered" in notice]
        assert len(told) == 1


def test_a_broken_memory_is_told_and_replaced(log: Path) -> None:
    @piloted
    async def check() -> None:
        async with served(log) as stage:
            assert any("preferences.json" in notice for notice in stage.notices)
            await stage.press("t")

    forget_hints()
    path = Path(os.environ["XDG_STATE_HOME"], "mltd", "preferences.json")
    path.write_text("{")
    check()
    assert json.loads(path.read_text())["theme"] == "light"

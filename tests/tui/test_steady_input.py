"""No field of ours has a cursor that blinks: each blink is a repaint, also over ssh."""

from __future__ import annotations

import ast
from pathlib import Path

from textual.widgets import Input

from mltd.runs.sources.line_scan import Conditions
from mltd.tui.screens.log_filter import LogFilterScreen
from tests.conftest import ROOT
from tests.tui.app_scene import diverging, piloted, served, write_log

BLINKING = {"Input", "MaskedInput"}
MODULES = [path for path in sorted((ROOT / "tui").rglob("*.py")) if path.stem != "steady_input"]


@piloted
async def test_the_cursor_of_the_filter_does_not_blink(own_home: Path) -> None:
    async with served(write_log(own_home / "train.log", diverging())) as stage:
        await stage.app.push_screen(LogFilterScreen(Conditions()))
        fields = list(stage.app.screen.query(Input))
        assert fields
        assert [field.id for field in fields if field.cursor_blink] == []
        assert isinstance(stage.app.focused, Input)
        timer = stage.app.focused._blink_timer
        assert timer is not None
        assert not timer._active.is_set()


def test_no_module_makes_a_field_that_blinks() -> None:
    assert [str(path.relative_to(ROOT)) for path in MODULES if makes_one(path)] == []


def makes_one(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_bytes())):
        made = [node.func] if isinstance(node, ast.Call) else []
        made = node.bases if isinstance(node, ast.ClassDef) else made
        if {name.id for name in made if isinstance(name, ast.Name)} & BLINKING:
            return True
    return False

"""Pictures of the model view; `pytest --snapshot-update` makes them anew."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from mltd.tui.terminal import TRUE_COLOUR, Terminal
from tests.tui.app_scene import Stage
from tests.tui.model_scene import look_here, make_run, pane, read, study
from tests.tui.test_snapshots import (  # noqa: F401 - fixtures that hold for every picture
    SIZES,
    Compare,
    Walk,
    _same_everywhere,
    _same_zone,
    by_size,
    is_same,
)


@pytest.fixture
def run(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    look_here(monkeypatch)
    return make_run(own_home / "runs" / "gpt")


def after(*keys: str) -> Walk:
    """The model view after some keys, each with all that it sets off."""

    async def walk(stage: Stage) -> None:
        await stage.press("8")
        await read(stage, lambda: study(stage).is_listed)
        for key in keys:
            await stage.press(key)
            await read(stage, partial(_has_come, stage, key))
        pane(stage)._redraw()
        # The scrollbar follows the list some messages later.
        rows = pane(stage)._list
        await stage.until(lambda: rows.vertical_scrollbar.position == rows.scroll_y)
        rows.vertical_scrollbar.refresh()
        await stage.pilot.pause()

    return walk


def _has_come(stage: Stage, key: str) -> bool:
    """True if what a key asks for is there: it is read only after the app has heard of it."""
    seen = study(stage)
    shown = seen.shown
    if shown is None:
        return False
    return {"v": shown.page.has_values, "d": bool(seen.against)}.get(key, True)


def test_shapes(snap_compare: Compare, run: Path) -> None:
    assert is_same(snap_compare, SIZES[0], after("down", "down", "down", "down", "enter"), run)


@by_size
def test_values(snap_compare: Compare, run: Path, size: tuple[int, int]) -> None:
    assert is_same(snap_compare, size, after("v"), run)


def test_movement(snap_compare: Compare, run: Path) -> None:
    assert is_same(snap_compare, SIZES[1], after("n", "d"), run, theme="light")


def test_values_without_unicode(snap_compare: Compare, run: Path) -> None:
    ascii_only = Terminal(is_unicode=False, colours=TRUE_COLOUR)
    assert is_same(snap_compare, SIZES[0], after("v"), run, terminal=ascii_only)


def test_values_without_colours(snap_compare: Compare, run: Path) -> None:
    assert is_same(snap_compare, (60, 15), after("v"), run, theme="mono")

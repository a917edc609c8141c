"""The whole app: views, zoom, focus, search and the size of the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.tui.engine.curve_protocol import CurveRequest, HeatRequest
from mltd.tui.engine.protocol import Open
from mltd.tui.widgets.log_search_bar import LogSearchBar
from tests.tui.app_scene import (
    NOW,
    Served,
    StandIn,
    diverging,
    forget_hints,
    layered,
    piloted,
    served,
    staged,
    write_log,
)

PANES = ("curves", "findings", "log", "heat")


@pytest.fixture
def log(own_home: Path) -> Path:
    return write_log(own_home / "runs" / "train.log", diverging())


@piloted
async def test_the_overview_shows_what_is_wrong_the_curves_and_the_end_of_the_log(
    log: Path,
) -> None:
    async with served(log) as stage:
        await stage.drawn()
        assert "✖ critical 3" in stage.text
        assert "step 398/1,000" in stage.text
        assert "exploding gradients" in stage.text
        assert "val_loss nan" in stage.text
        assert "curves" in stage.text


@piloted
async def test_number_keys_show_one_pane_alone_and_focus_it(log: Path) -> None:
    async with served(log) as stage:
        for key, name in (("2", "curves"), ("3", "findings"), ("4", "log"), ("5", "heat")):
            await stage.press(key)
            assert stage.view == name
            shown = [pane for pane in PANES if stage.main.query_one(f"#{pane}").is_on_screen]
            assert shown == [name]
            assert stage.main.query_one(f"#{name}").has_focus_within
        await stage.press("1")
        assert stage.view == "overview"
        shown = [pane for pane in PANES if stage.main.query_one(f"#{pane}").is_on_screen]
        assert shown == ["curves", "findings", "log"]


@piloted
async def test_zoom_gives_the_focused_pane_everything_and_back(log: Path) -> None:
    async with served(log) as stage:
        for pane in (stage.main.log_pane, stage.main.findings, stage.main.curves):
            pane.focus()
            await stage.press("z")
            assert stage.view == pane.id
            assert pane.size.width >= 76
            await stage.press("z")
            assert stage.view == "overview"
            assert stage.focused == pane.id


@piloted
async def test_tab_goes_round_the_panes_both_ways(log: Path) -> None:
    async with served(log) as stage:
        assert stage.focused == "log"
        seen = []
        for _ in range(3):
            await stage.press("tab")
            seen.append(stage.focused)
        assert seen == ["curves", "findings", "log"]
        await stage.press("shift+tab")
        assert stage.focused == "findings"


@pytest.mark.parametrize("view", ["1", "2", "3", "5"])
def test_the_log_is_searched_from_any_pane(log: Path, view: str) -> None:
    @piloted
    async def check() -> None:
        async with served(log) as stage:
            await stage.press(view)
            if view == "1":
                stage.main.findings.focus()
            await stage.press("slash", *"step", "space", *"123")
            assert stage.main.query_one(LogSearchBar).has_focus_within
            assert stage.main.log_pane.is_on_screen

    check()


@piloted
async def test_what_is_searched_is_found_and_escape_ends_it(log: Path) -> None:
    async with served(log) as stage:
        await stage.press("slash", *"non-finite", "enter")
        await stage.shows("match 1 of 1", "WARNING non-finite loss")
        await stage.press("escape")
        assert "match 1 of 1" not in stage.text


@piloted
async def test_a_hidden_pane_of_curves_needs_no_curves(log: Path) -> None:
    async with served(log) as stage:
        await stage.drawn()
        bridge = stage.bridge
        assert isinstance(bridge, StandIn)
        open_tickets = {wish.ticket for wish in bridge.of(CurveRequest) if wish.series}
        await stage.press("4")
        ended = {wish.ticket for wish in bridge.of(CurveRequest) if not wish.series}
        assert open_tickets == ended
        await stage.press("1")
        assert bridge.of(CurveRequest)[-1].series


@piloted
async def test_every_request_for_curves_is_sent_once(log: Path) -> None:
    async with served(log) as stage:
        await stage.drawn()
        assert isinstance(stage.bridge, StandIn)
        requests = stage.bridge.of(CurveRequest)
        assert len(requests) == len(set(requests))


@piloted
async def test_gradients_per_layer_are_mapped_and_lead_to_the_curves(own_home: Path) -> None:
    log = write_log(own_home / "runs" / "layers.log", layered())
    async with served(log, size=(100, 30)) as stage:
        await stage.press("5")
        assert isinstance(stage.bridge, StandIn)
        assert stage.bridge.of(HeatRequest)[-1].columns == stage.main.heat.columns
        assert "8 layers" in stage.text
        assert "blocks.0" in stage.text
        await stage.press("left", "enter")
        assert stage.view == "overview"
        assert stage.focused == "curves"
        assert "232" in stage.text


@piloted
async def test_a_run_without_layers_says_so_in_their_view(log: Path) -> None:
    async with served(log) as stage:
        await stage.press("5")
        assert "no gradient norms per layer" in stage.text


@piloted
async def test_a_terminal_that_is_too_small_is_told_the_size_it_needs(log: Path) -> None:
    forget_hints()
    async with served(log, size=(50, 12)) as stage:
        assert "needs 60x15" in stage.text
        assert "50x12" in stage.text
        assert "curves" not in stage.text
        await stage.pilot.resize_terminal(80, 24)
        await stage.shows("curves", "findings", "val_loss nan")
        assert "needs 60x15" not in stage.text
        await stage.pilot.resize_terminal(60, 15)
        await stage.shows("curves", "findings", "? Help")
        await stage.pilot.resize_terminal(59, 15)
        await stage.shows("59x15")


@piloted
async def test_the_layout_follows_the_width(log: Path) -> None:
    async with served(log) as stage:
        log_pane, findings = stage.main.log_pane, stage.main.findings
        assert log_pane.region.y > findings.region.y
        await stage.pilot.resize_terminal(160, 48)
        await stage.until(lambda: findings.region.height == log_pane.region.bottom - 2)
        assert findings.region.x > log_pane.region.x


@piloted
async def test_a_header_whose_data_are_old_says_so(log: Path) -> None:
    async with served(log) as stage:
        assert "last line 3 s ago" in stage.text
        assert "STALE" not in stage.text
        stage.main.header.now = lambda: NOW + 300
        stage.main.header.tick()
        await stage.pilot.pause()
        assert "STALE" in stage.text
        assert "▲ silent 5 min" in stage.text


@piloted
async def test_a_run_without_metrics_is_shown_all_the_same(own_home: Path) -> None:
    log = write_log(own_home / "plain.log", ["hello", "nothing here is a number"])
    async with served(log) as stage:
        assert "no metrics yet" in stage.text
        assert "nothing here is a number" in stage.text
        await stage.press("2", "m", "y", "s", "a", "right", "enter", "3", "enter", "h", "1")
        assert stage.is_main


@piloted
async def test_before_the_engine_speaks_the_end_of_the_log_is_there(log: Path) -> None:
    async with staged(StandIn(), log) as stage:
        await stage.shows("val_loss nan", "no run yet", "train.log")
        await stage.press("2", "3", "5", "1", "z", "z", "left_square_bracket")
        assert stage.app.is_running


@piloted
async def test_an_engine_that_is_faster_than_the_screen_harms_nothing(log: Path) -> None:
    bridge = Served(Open((str(log),)))
    bridge.is_hasty = True
    async with staged(bridge, log) as stage:
        await stage.shows("critical 3")


@piloted
async def test_an_empty_log_is_not_called_running(own_home: Path) -> None:
    empty = write_log(own_home / "runs" / "empty.log", [])
    async with served(empty) as stage:
        await stage.shows("empty.log", "unknown", "the log is empty so far")
        assert "running" not in stage.text

"""The whole app with several runs: switching, picking, comparing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.tui.engine.curve_protocol import CompareRequest, CurveRequest
from mltd.tui.engine.protocol import Open, Rows, RunRow, RunsFound, Select, Survey
from mltd.tui.picking import COMPARED
from mltd.tui.recent import RecentRuns
from mltd.tui.screens.compare import CompareScreen
from mltd.tui.screens.run_picker import RunPicker
from mltd.tui.widgets.curves_pane import CurvesPane
from tests.tui.app_scene import (
    Served,
    Stage,
    StandIn,
    diverging,
    healthy,
    piloted,
    served,
    staged,
    write_log,
)

Logs = tuple[Path, Path, Path]


@pytest.fixture
def logs(own_home: Path) -> Logs:
    runs = own_home / "runs"
    return (
        write_log(runs / "diverging.log", diverging()),
        write_log(runs / "healthy.log", healthy()),
        write_log(runs / "better.log", healthy(floor=0.4)),
    )


def wishes(stage: Stage) -> StandIn:
    assert isinstance(stage.bridge, StandIn)
    return stage.bridge


@piloted
async def test_brackets_go_round_the_runs(logs: Logs) -> None:
    async with served(*logs) as stage:
        assert "diverging.log" in stage.text
        assert "1/3" in stage.text
        await stage.press("right_square_bracket")
        await stage.shows("healthy.log", "2/3", "✔ healthy", "step 398/1000 | loss 1.3")
        await stage.press("left_square_bracket", "left_square_bracket")
        await stage.shows("better.log", "3/3")
        assert [wish.run for wish in wishes(stage).of(Select)] == [0, 1, 0, 2]


@piloted
async def test_curves_of_the_former_run_are_no_longer_wanted(logs: Logs) -> None:
    async with served(*logs) as stage:
        await stage.drawn()
        await stage.press("right_square_bracket")
        await stage.drawn()
        assert {run for wish in open_curves(stage) for run, _ in wish.series} == {1}


def open_curves(stage: Stage) -> list[CurveRequest]:
    """What the engine keeps sending."""
    kept: dict[int, CurveRequest] = {}
    for wish in wishes(stage).of(CurveRequest):
        kept.pop(wish.ticket, None)
        if wish.series:
            kept[wish.ticket] = wish
    return list(kept.values())


@piloted
async def test_a_run_is_picked_by_a_part_of_its_name(logs: Logs) -> None:
    async with served(*logs) as stage:
        await stage.press("r")
        assert isinstance(stage.app.screen, RunPicker)
        assert all(path.name in stage.text for path in logs)
        assert "✖" in stage.text
        await stage.press(*"bett")
        assert "1 of 3 runs" in stage.text
        assert "healthy.log" not in stage.text
        await stage.press("enter")
        await stage.shows("better.log", "3/3")
        assert stage.is_main
        assert wishes(stage).of(Survey) == [Survey(True), Survey(False)]
        assert RecentRuns().paths[0] == "/home/ada/runs"


@piloted
async def test_the_picker_is_closed_without_a_choice(logs: Logs) -> None:
    async with served(*logs) as stage:
        await stage.press("r", "x", "escape")
        assert isinstance(stage.app.screen, RunPicker)
        await stage.press("escape")
        assert stage.is_main
        assert "diverging.log" in stage.text


@piloted
async def test_the_picker_comes_first_where_nothing_is_named(logs: Logs) -> None:
    async with served(logs[0].parent, is_survey=True) as stage:
        assert isinstance(stage.app.screen, RunPicker)
        await stage.press("escape", *"heal", "enter")
        await stage.shows("healthy.log", "✔ healthy")


@piloted
async def test_a_picker_with_nothing_behind_it_can_be_left_for_good(logs: Logs) -> None:
    async with served(logs[0].parent, is_survey=True) as stage:
        assert isinstance(stage.app.screen, RunPicker)
        assert not stage.app.screen.allows_close
        await stage.press("ctrl+q")
        await stage.until(lambda: not stage.app.is_running)


@piloted
async def test_two_runs_are_compared_curve_over_curve_and_metric_by_metric(logs: Logs) -> None:
    async with served(*logs, size=(120, 40)) as stage:
        await stage.press("right_square_bracket")
        await stage.drawn()
        await stage.press("o", *"bett", "enter")
        assert isinstance(stage.app.screen, CompareScreen)
        assert wishes(stage).of(CompareRequest) == [CompareRequest(COMPARED, 1, 2)]
        await stage.drawn()
        await stage.shows("before healthy.log", "after better.log", "better")
        overlaid = [wish for wish in open_curves(stage) if {r for r, _ in wish.series} == {1, 2}]
        assert overlaid
        pane = stage.app.screen.query_one(CurvesPane)
        assert len(pane._board.curves_of(pane._board.charts[0])) == 2


@piloted
async def test_a_third_run_is_drawn_over_the_two(logs: Logs) -> None:
    async with served(*logs, size=(120, 40)) as stage:
        await stage.drawn()
        await stage.press("o", *"heal", "enter")
        await stage.drawn()
        await stage.press("o", *"bett", "enter")
        assert isinstance(stage.app.screen, CompareScreen)
        await stage.drawn()
        overlaid = [wish for wish in open_curves(stage) if {r for r, _ in wish.series} == {0, 1, 2}]
        assert overlaid
        await stage.shows("after healthy.log")


@piloted
async def test_closing_a_comparison_ends_its_curves(logs: Logs) -> None:
    async with served(*logs, size=(120, 40)) as stage:
        await stage.drawn()
        before = {wish.ticket for wish in open_curves(stage)}
        await stage.press("o", *"heal", "enter")
        await stage.drawn()
        assert {wish.ticket for wish in open_curves(stage)} - before
        await stage.press("escape")
        await stage.pilot.pause()
        assert stage.is_main
        assert {wish.ticket for wish in open_curves(stage)} == before


@piloted
async def test_a_comparison_is_left_by_q_too_and_the_app_goes_on(logs: Logs) -> None:
    async with served(*logs) as stage:
        await stage.press("o", *"heal", "enter", "q")
        assert stage.is_main
        await stage.press("2")
        assert stage.view == "curves"


@piloted
async def test_one_run_cannot_be_compared_and_the_user_is_told_how(logs: Logs) -> None:
    async with served(logs[0]) as stage:
        await stage.press("o")
        assert stage.is_main
        assert stage.notices == ["there is only one run; open two to compare them: mltd-tui A B"]


@piloted
async def test_a_run_is_not_compared_with_itself(logs: Logs) -> None:
    async with served(*logs) as stage:
        await stage.press("o", *"diverg")
        assert "0 of 2 runs" in stage.text
        await stage.press("enter")
        assert wishes(stage).of(CompareRequest) == []


@piloted
async def test_newer_rows_do_not_offer_the_run_itself_for_comparison(logs: Logs) -> None:
    async with served(*logs) as stage:
        await stage.press("o")
        await stage.hear(Rows(tuple(stage.app.book.rows.values())))
        assert "2 runs" in stage.text


@piloted
async def test_names_that_lead_nowhere_end_the_app_with_a_sentence() -> None:
    bridge = StandIn()
    bridge.tell(RunsFound((), ("there is no file x.log",)))
    async with staged(bridge, "x.log") as stage:
        await stage.until(lambda: not stage.app.is_running)
    assert stage.app.return_code == 2
    assert stage.app.problems == ["there is no file x.log"]


@piloted
async def test_an_engine_that_was_started_again_does_not_take_the_user_away(logs: Logs) -> None:
    async with served(*logs) as stage:
        await stage.press("right_square_bracket")
        rows = tuple(stage.app.book.rows.values())
        wishes(stage).die()
        await stage.hear(RunsFound(rows))
        assert "healthy.log" in stage.text
        assert wishes(stage).of(Select)[-1] == Select(1)
        assert any("was started again" in notice for notice in stage.notices)


@piloted
async def test_the_same_after_a_survey_opens_no_second_picker(logs: Logs) -> None:
    async with served(logs[0].parent, is_survey=True) as stage:
        await stage.press(*"heal", "enter")
        await stage.hear(RunsFound(tuple(stage.app.book.rows.values())))
        assert stage.is_main


@piloted
async def test_rows_that_come_later_are_in_the_open_picker(logs: Logs) -> None:
    bridge = Served(Open(tuple(map(str, logs))))
    async with staged(bridge, *logs) as stage:
        await stage.press("r")
        late = RunRow(3, "brand-new.log", "/home/ada/brand-new.log")
        await stage.hear(RunsFound((*stage.app.book.rows.values(), late)))
        await stage.shows("brand-new.log", "4 runs")


@piloted
async def test_runs_whose_logs_are_called_alike_are_told_apart(own_home: Path) -> None:
    logs = [write_log(own_home / name / "train.log", healthy()) for name in ("small", "wide")]
    async with served(*logs) as stage:
        await stage.press("r")
        assert "small" in stage.text
        assert "wide" in stage.text
        await stage.press(*"wide")
        assert "1 of 2 runs" in stage.text


@piloted
async def test_the_picker_says_of_a_run_what_its_header_says(logs: Logs) -> None:
    async with served(*logs) as stage:
        assert "▶ running" in stage.text
        await stage.press("r")
        assert stage.text.count("running") == 3

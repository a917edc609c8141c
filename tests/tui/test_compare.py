"""The compare screen: what became of each metric."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Static

from mltd.tui.change_text import Verdict, change_of
from mltd.tui.engine.protocol import CompareRow, Comparison
from mltd.tui.screens.compare import CompareScreen
from mltd.tui.widgets.compare_table import lay_out, usual_place
from mltd.tui.widgets.curves_pane import CurvesPane
from tests.tui.hosting import Host

LOSS = CompareRow("loss", "train/loss", "step", 12_300.0, 2.0, 1.5, 1.9, 1.4, True)
ACCURACY = CompareRow("val/acc", "val/accuracy", "step", 12_000.0, 0.7, 0.6, 0.8, 0.65, False)
RATE = CompareRow("lr", "lr", "step", 12_300.0, 1e-4, 2e-4)
ALONE = CompareRow("mystery", None, "index", 9.0, None, 3.0)
ROWS = (LOSS, ACCURACY, RATE, ALONE)

Check = Callable[[Pilot[None], CompareScreen], Awaitable[None]]


def show(
    check: Check,
    comparison: Comparison | None,
    size: tuple[int, int] = (80, 24),
    curves: CurvesPane | None = None,
    names: tuple[str, str] = ("old [b]run", "new \x1b[31mrun"),
) -> None:
    async def run() -> None:
        host = Host(Static())
        screen = CompareScreen(*names, comparison, curves)
        async with host.run_test(size=size) as pilot:
            await host.push_screen(screen)
            await pilot.pause()
            await check(pilot, screen)
        assert host.failures == []

    asyncio.run(run())


def seen(screen: CompareScreen) -> list[str]:
    table = screen.table
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def text_of(screen: CompareScreen, selector: str) -> str:
    return str(screen.query_one(selector, Static).content)


def test_each_metric_has_a_line_with_its_verdict() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        lines = seen(screen)
        assert lines[0].split() == ["metric", "before", "after", "change"]
        assert lines[1].split() == ["▸loss", "2", "1.5", "-0.5", "-25.0%", "▲", "better"]
        assert lines[2].split() == ["val/acc", "0.7", "0.6", "-0.1", "-14.3%", "▼", "worse"]
        assert lines[3].split() == ["lr", "1.0e-4", "2.0e-4", "+1.0e-4", "+100%", "↑", "up"]
        assert lines[4].split() == ["mystery", "-", "3", "no", "before"]
        subtitle = str(screen.query_one("#compare-metrics").border_subtitle)
        assert subtitle == "▲ 1 better, ▼ 1 worse, medians at step 12,300"

    show(check, Comparison(1, 0, 1, ROWS))


def test_a_wide_screen_has_best_values_and_places() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert seen(screen)[1].split()[-4:] == ["1.9", "1.4", "step", "12,300"]
        assert seen(screen)[4].split()[-2:] == ["point", "9"]

    show(check, Comparison(1, 0, 1, ROWS), size=(160, 48))


def test_a_narrow_screen_tells_them_of_the_metric_under_the_cursor() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert text_of(screen, "#compare-more") == (
            "loss  ▲ better  best 1.9 before, 1.4 after, at step 12,300"
        )
        await pilot.press("G")
        assert text_of(screen, "#compare-more") == "mystery  only after  point 9"
        await pilot.press("k")
        assert text_of(screen, "#compare-more").startswith("lr  ↑ up")

    show(check, Comparison(1, 0, 1, ROWS))


def test_numbers_may_come_later_and_the_cursor_stays_on_its_metric() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert any("comparing..." in line for line in seen(screen))
        screen.set_comparison(Comparison(1, 0, 1, ROWS))
        await pilot.press("down")
        screen.set_comparison(Comparison(1, 0, 1, (RATE, LOSS, ACCURACY)))
        assert screen.table.current == ACCURACY
        screen.set_comparison(Comparison(1, 0, 1))
        assert any("these runs have logged no metric" in line for line in seen(screen))

    show(check, None)


def test_curves_get_the_room_above_if_there_are_any() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert screen.query_one("#compare-curves #mine").size.height >= 8
        assert screen.table.size.height >= 6

    show(check, Comparison(1, 0, 1, ROWS), curves=CurvesPane(id="mine"))

    async def check_without(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert screen.query_one("#compare-curves").display is False
        assert screen.table.size.height >= 16

    show(check_without, Comparison(1, 0, 1, ROWS))


@pytest.mark.parametrize("key", ["escape", "q"])
def test_one_key_leaves(key: str) -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        await pilot.press(key)
        assert pilot.app.screen is not screen

    show(check, None)


def test_hostile_names_are_text() -> None:
    rows = tuple(
        CompareRow(name, None, "step", math.inf, math.nan, -math.inf)
        for name in ("[red]x[/", "\x1b[2J", "日本語" * 20, "")
    )

    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert text_of(screen, "#compare-runs") == "before old [b]run  after new ·[31mrun"
        for y in range(screen.table.size.height):
            strip = screen.table.render_line(y)
            assert strip.cell_length == screen.table.scrollable_content_region.width
            assert strip.text.isprintable()
        await pilot.press("down")
        assert text_of(screen, "#compare-more").isprintable()

    show(check, Comparison(1, 0, 1, rows))


# -- parts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "is_smaller", "verdict"),
    [
        (2.0, 1.0, True, Verdict.BETTER),
        (2.0, 3.0, True, Verdict.WORSE),
        (2.0, 3.0, False, Verdict.BETTER),
        (2.0, 2.001, True, Verdict.SAME),
        (0.0, 0.0, True, Verdict.SAME),
        (2.0, 3.0, None, Verdict.UP),
        (2.0, 1.0, None, Verdict.DOWN),
        (2.0, math.nan, False, Verdict.WORSE),
        (math.inf, 2.0, True, Verdict.BETTER),
        (math.nan, math.nan, True, Verdict.SAME),
        (None, 2.0, True, Verdict.MISSING),
    ],
)
def test_a_change_is_judged_by_what_is_better(
    before: float | None, after: float | None, is_smaller: bool | None, verdict: Verdict
) -> None:
    row = CompareRow("m", None, "step", 1.0, before, after, smaller_is_better=is_smaller)
    assert change_of(row).verdict is verdict


@given(st.floats(), st.floats(), st.sampled_from([True, False, None]))
def test_any_change_can_be_said_in_a_few_letters(
    before: float, after: float, is_smaller: bool | None
) -> None:
    row = CompareRow("m", None, "step", 1.0, before, after, smaller_is_better=is_smaller)
    change = change_of(row)
    assert len(change.difference) <= 9
    assert len(change.percent) <= 8


@pytest.mark.parametrize("width", [58, 78, 110, 158])
def test_columns_never_need_more_than_there_is(width: int) -> None:
    columns = lay_out(width, 80)
    count = 5 + 2 * columns.has_best + bool(columns.place)
    values = (3 + 2 * columns.has_best) * columns.value
    assert 1 + columns.name + values + 8 + 9 + columns.place + columns.gap * count <= width


def test_the_usual_place_is_that_of_most_metrics() -> None:
    assert usual_place(ROWS) == "step 12,300"
    assert usual_place(()) == ""

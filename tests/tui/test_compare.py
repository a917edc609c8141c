"""The compare screen: what became of each metric."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Static

from mltd.sessions.model.result import BeforeAfter, Cost, CriterionResult, Outcome
from mltd.tui.change_text import Verdict, change_of
from mltd.tui.engine.curve_protocol import CompareRow, Comparison
from mltd.tui.screens.compare import CompareScreen
from mltd.tui.widgets.compare_table import lay_out, usual_place
from mltd.tui.widgets.curves_pane import CurvesPane
from tests.tui.hosting import Host

LOSS = CompareRow(
    "loss", "train/loss", "step", 12_300.0, 2.0, 1.5, 1.9, 1.4, True, start=11_100.0, change=-0.25,
    low=-0.28, high=-0.21, effect=-3.2, parts_at=390.0, points=(40, 38),
)  # fmt: skip
ACCURACY = CompareRow("val/acc", "val/accuracy", "step", 12_000.0, 0.7, 0.6, 0.8, 0.65, False)
RATE = CompareRow("lr", "lr", "step", 12_300.0, 1e-4, 2e-4, start=11_100.0)
ALONE = CompareRow("mystery", None, "index", 9.0, None, 3.0)
ROWS = (LOSS, ACCURACY, RATE, ALONE)

Check = Callable[[Pilot[None], CompareScreen], Awaitable[None]]


def show(
    check: Check,
    comparison: Comparison | None,
    size: tuple[int, int] = (80, 24),
    curves: CurvesPane | None = None,
    names: tuple[str, str] = ("old [b]run", "new \x1b[31mrun"),
    **more: Any,
) -> list[Message]:
    host = Host(Static(), CompareScreen.Recorded, CompareScreen.RunEnded)

    async def run() -> None:
        screen = CompareScreen(*names, comparison, curves, **more)
        async with host.run_test(size=size) as pilot:
            await host.push_screen(screen)
            await pilot.pause()
            await check(pilot, screen)
        assert host.failures == []

    asyncio.run(run())
    return host.heard


def seen(screen: CompareScreen) -> list[str]:
    table = screen.table
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def text_of(screen: CompareScreen, selector: str) -> str:
    return str(screen.query_one(selector, Static).content)


def test_each_metric_has_a_line_with_its_verdict() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        lines = seen(screen)
        assert lines[0].split() == [
            "metric", "before", "after", "change", "95%", "interval", "effect"
        ]  # fmt: skip
        assert lines[1].split() == [
            "▸loss", "2", "1.5", "-25.0%", "-28.0..-21.0%", "▲", "better", "-3.2"
        ]  # fmt: skip
        assert lines[2].split() == ["val/acc", "0.7", "0.6", "-14.3%", "▼", "worse"]
        assert lines[3].split() == ["lr", "1.0e-4", "2.0e-4", "+100%", "↑", "up"]
        assert lines[4].split() == ["mystery", "-", "3", "no", "before"]
        subtitle = str(screen.query_one("#compare-metrics").border_subtitle)
        assert subtitle == "▲ 1 better, ▼ 1 worse, levels over step 11,100..12,300"

    show(check, Comparison(1, 0, 1, ROWS))


def test_a_wide_screen_has_effects_best_values_and_places() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert seen(screen)[0].endswith("compared over")
        assert seen(screen)[1].split()[-6:] == ["-3.2", "390", "1.9", "1.4", "step",
                                                "11,100..12,300"]  # fmt: skip
        assert seen(screen)[4].split()[-2:] == ["point", "9"]

    show(check, Comparison(1, 0, 1, ROWS), size=(160, 48))


def test_a_narrow_screen_tells_them_of_the_metric_under_the_cursor() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert text_of(screen, "#compare-more") == (
            "loss  ▲ better  -25.0% (-28.0..-21.0%); -3.2 times the noise; parting at step 390; "
            "best 1.9 before, 1.4 after; 40 and 38 points; step 11,100..12,300"
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

    async def check_tall(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert screen.query_one("#compare-curves #mine").size.height >= 30
        assert screen.table.size.height >= len(ROWS) + 1

    show(check_tall, Comparison(1, 0, 1, ROWS), size=(160, 48), curves=CurvesPane(id="mine"))

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
    for longest in (4, 20, 80):
        columns = lay_out(width, longest)
        assert columns.total <= width
        assert ("interval" in columns.widths) is (width >= 78)


def test_columns_are_dropped_by_how_little_they_tell() -> None:
    shown = [list(lay_out(width, 24).widths) for width in range(60, 200)]
    for narrow, wide in itertools.pairwise(shown):
        assert set(narrow) <= set(wide)
    assert shown[-1] == [
        "before", "after", "difference", "change", "interval", "verdict", "effect", "parts",
        "best before", "best after", "place",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.3, -0.2, Verdict.BETTER),
        (-0.5, 0.1, Verdict.UNCLEAR),
        (0.2, 0.3, Verdict.WORSE),
        (-0.015, 0.012, Verdict.SAME),
        (-0.3, None, Verdict.BETTER),
    ],
)
def test_what_could_be_noise_is_unclear(low: float, high: float | None, verdict: Verdict) -> None:
    after = 2.4 if low > 0 else 1.98 if verdict is Verdict.SAME else 1.5
    row = CompareRow("m", None, "step", 1.0, 2.0, after, smaller_is_better=True, low=low, high=high)
    assert change_of(row).verdict is verdict


def test_too_few_points_are_unclear_be_they_ever_so_alike() -> None:
    row = CompareRow("m", None, "step", 1.0, 2.0, 2.0, smaller_is_better=True, needed=9)
    assert change_of(row).verdict is Verdict.UNCLEAR


@given(*[st.one_of(st.none(), st.floats(allow_nan=False))] * 3)
def test_any_interval_and_effect_fit_their_columns(
    low: float | None, high: float | None, effect: float | None
) -> None:
    row = CompareRow("m", None, "step", 1.0, 2.0, 1.0, low=low, high=high, effect=effect)
    change = change_of(row)
    assert len(change.interval) <= 14
    assert len(change.effect) <= 6


# -- the verdict on an experiment ------------------------------------------------------------


def verdict(outcome: Outcome = Outcome.PASSED, guards: int = 2) -> BeforeAfter:
    said = "loss 2 -> 1.5 (-25.0%, 95% interval -28.0..-21.0%), over steps 11000..12300"
    return BeforeAfter(
        at=datetime(2026, 3, 1, tzinfo=UTC),
        before="R1",
        after="R2",
        outcome=outcome,
        summary=f"{said}; no guarded metric regressed by more than 5% \x1b[31m[b]",
        criteria=(
            CriterionResult(criterion="train/loss improves by 10%", outcome=outcome, said=said),
            *(
                CriterionResult(criterion=f"metric {k} regresses by less than 5%",
                                outcome=Outcome.PASSED, said="1 -> 1", is_guard=True)
                for k in range(guards)
            ),
        ),
        cost=Cost(throughput=(1000.0, 900.0)),
    )  # fmt: skip


def lines_of(screen: CompareScreen) -> list[str]:
    return str(screen.banner.content).splitlines()


def test_without_an_experiment_there_is_no_banner_and_nothing_to_record() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert screen.banner.display is False
        await pilot.press("v")

    assert show(check, Comparison(1, 0, 1, ROWS), can_record=True) == []


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        (Outcome.PASSED, "✔ passed"),
        (Outcome.FAILED, "✖ failed"),
        (Outcome.INCONCLUSIVE, "◐ inconclusive"),
    ],
)
def test_the_verdict_stands_above_with_its_criteria(outcome: Outcome, shown: str) -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        lines = lines_of(screen)
        assert lines[0] == "E1: lr 0.1 -> 0.03"
        assert lines[1].startswith(f"{shown}  loss 2 -> 1.5 (-25.0%")
        assert "·[31m[b]" in " ".join(lines)
        assert any(line.startswith(f"{shown[0]} train/loss improves by 10%") for line in lines)
        assert all(cell_len(line) <= 78 for line in lines)
        assert screen.table.size.height >= 4

    show(check, Comparison(1, 0, 1, ROWS), verdict=verdict(outcome), title="E1: lr 0.1 -> 0.03",
         curves=CurvesPane())  # fmt: skip


def test_a_large_screen_has_a_line_for_each_criterion_and_the_cost() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        lines = lines_of(screen)
        assert "✔ train/loss improves by 10%          loss 2 -> 1.5 (-25.0%, 95% interval" in str(
            screen.banner.content
        )
        assert lines[-1] == "cost: throughput 1000 -> 900 (-10.0%)"

    show(check, Comparison(1, 0, 1, ROWS), size=(160, 48), verdict=verdict())


@pytest.mark.parametrize("size", [(80, 24), (160, 24), (160, 48)])
def test_many_criteria_leave_room_for_the_metrics(size: tuple[int, int]) -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert "more" in lines_of(screen)[-1 if size[1] < 36 else -2]
        assert screen.table.size.height >= 4

    show(check, Comparison(1, 0, 1, ROWS), size=size, verdict=verdict(guards=30), title="E1",
         curves=CurvesPane())  # fmt: skip


def test_a_verdict_may_come_later_and_can_then_be_recorded() -> None:
    given_verdict = verdict()

    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert lines_of(screen) == ["E1", "comparing..."]
        await pilot.press("v")
        screen.set_verdict(given_verdict, can_record=True)
        await pilot.pause()
        assert lines_of(screen)[1].startswith("✔ passed")
        await pilot.press("v")

    heard = show(check, None, title="E1", can_record=True)
    assert [
        message.verdict for message in heard if isinstance(message, CompareScreen.Recorded)
    ] == [given_verdict]


def test_what_may_not_be_recorded_is_not() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        await pilot.press("v")

    assert show(check, None, verdict=verdict(), title="E1") == []


def test_a_verdict_on_a_run_that_goes_on_says_so() -> None:
    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        assert lines_of(screen)[0].startswith("✔ passed so far  ")
        assert "preliminary: the run is still going" in lines_of(screen)

    show(check, None, verdict=verdict().model_copy(update={"is_preliminary": True}))


@pytest.mark.parametrize("is_preliminary", [True, False])
def test_a_preliminary_verdict_is_not_recorded_but_its_run_can_be_ended(
    is_preliminary: bool,
) -> None:
    given = verdict().model_copy(update={"is_preliminary": is_preliminary})

    async def check(pilot: Pilot[None], screen: CompareScreen) -> None:
        await pilot.press("v", "F")

    heard = show(check, None, verdict=given, title="E1", can_record=True)
    expected = CompareScreen.RunEnded if is_preliminary else CompareScreen.Recorded
    assert [type(message) for message in heard] == [expected]


def test_the_usual_place_is_that_of_most_metrics() -> None:
    assert usual_place(ROWS) == "step 11,100..12,300"
    assert usual_place(()) == ""

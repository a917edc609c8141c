"""The curves pane: what it asks for, what it shows, what its keys do."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps

from textual.geometry import Region
from textual.pilot import Pilot

from mltd.tui.engine.curve_protocol import Curve, CurvePass, CurveRequest, Curves, Mark, MarkKind
from mltd.tui.engine.protocol import SeriesInfo
from mltd.tui.widgets.curves_pane import CurvesPane
from tests.tui.hosting import Host

STEPS = 1000
MARKS = (
    Mark(200, MarkKind.CHECKPOINT, "saved"),
    Mark(600, MarkKind.FINDING, "loss [rises] here", "critical"),
)
Values = Callable[[float], float]
VALUES: dict[str, Values] = {
    "loss": lambda x: math.nan if 300 <= x < 310 else 10 - x / 200,
    "val": lambda x: 11 - x / 200,
    "grad": lambda x: 1 + x,
    "lr": lambda x: 1e-4,
    "noise": lambda x: x % 7,
}


def info(key: str, group: str, role: str | None = None, **more: object) -> SeriesInfo:
    values: dict[str, object] = {
        "axes": ("step", "time"), "points": STEPS, "last": VALUES[key](STEPS - 1), "low": 0.5,
        "high": 20.0, "is_primary": role is not None,
    }  # fmt: skip
    return SeriesInfo(key, key, role, group, **(values | more))  # type: ignore[arg-type]


SERIES = (
    info("loss", "loss", "train/loss"),
    info("val", "loss", "val/loss"),
    info("grad", "gradients", "grad_norm"),
    info("lr", "rate", "lr"),
    info("noise", "other"),
)


def answer(request: CurveRequest, end: int = STEPS, marks: tuple[Mark, ...] = MARKS) -> Curves:
    """What the engine would say; every tenth step is a bucket of its own."""
    shift = 1.7e9 if request.axis == "time" else 0.0
    curves = []
    for run, key in request.series:
        x = array("d", [s + shift for s in range(0, end, 10)])
        y = array("d", [VALUES[key](s - shift) for s in x])
        bad = array("q", [int(v != v) for v in y])
        count = array("q", [1 - b for b in bad])
        one = CurvePass(x, y, y, y, count, bad)
        curves.append(Curve(run, key, key, None, (one,), len(x)))
    extent = (shift, shift + end - 10)
    low = -math.inf if request.low is None else request.low
    high = math.inf if request.high is None else request.high
    moved = tuple(Mark(m.x + shift, m.kind, m.label, m.severity) for m in marks)
    moved = tuple(m for m in moved if low <= m.x <= high)
    return Curves(request.ticket, request.axis, extent, tuple(curves), moved)


def run_to_end(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    """Let pytest call a test that awaits."""

    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


class Session:
    """A pane whose wishes are granted."""

    def __init__(self, pane: CurvesPane, host: Host, pilot: Pilot[None]) -> None:
        self.pane, self.host, self.pilot = pane, host, pilot
        self.open: dict[int, CurveRequest] = {}
        self.repainted: list[Region] = []
        self._heard = 0

    async def settle(self, end: int = STEPS) -> list[CurveRequest]:
        """Answer everything that is asked; returns what was."""
        asked = []
        await self.pilot.pause()
        while self._heard < len(self.host.heard):
            message = self.host.heard[self._heard]
            self._heard += 1
            if isinstance(message, CurvesPane.Wanted):
                asked.append(message.request)
                self.open[message.request.ticket] = message.request
                if message.request.series:
                    self.pane.set_curves(answer(message.request, end))
                else:
                    del self.open[message.request.ticket]
                self.pane._redraw()
                await self.pilot.pause()
        assert not self.host.failures, self.host.failures[0].details
        return asked

    async def press(self, *keys: str) -> list[CurveRequest]:
        await self.pilot.press(*keys)
        return await self.settle()

    @property
    def rows(self) -> list[str]:
        size = self.pane.content_size
        return ["".join(s.text for s in self.pane.render_line(y)) for y in range(size.height)]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    @property
    def status(self) -> str:
        return self.rows[-1].strip()

    def shown(self) -> set[str]:
        return {key for request in self.open.values() for _, key in request.series}


@asynccontextmanager
async def session(
    width: int, height: int, series: tuple[SeriesInfo, ...] = SERIES
) -> AsyncIterator[Session]:
    pane = CurvesPane()
    host = Host(pane, CurvesPane.Wanted, CurvesPane.LineWanted)
    async with host.run_test(size=(width, height)) as pilot:
        pane.focus()
        one = Session(pane, host, pilot)
        if series:
            pane.set_series(0, "run", series)
        await one.settle()
        yield one


@run_to_end
async def test_before_there_is_a_metric_it_says_so() -> None:
    async with session(60, 12, ()) as one:
        assert "no metrics yet" in one.text
        assert await one.press("left", "n", "plus", "y", "m", "enter", "j") == []


@run_to_end
async def test_a_small_pane_shows_the_selected_chart_and_names_the_others() -> None:
    async with session(44, 11) as one:
        assert one.shown() == {"loss", "val"}
        assert one.status.startswith("▸loss · gradients · lr · 1/3")
        asked = await one.press("j")
        assert [r.series for r in asked if r.series] == [((0, "grad"),)]
        assert [r for r in asked if not r.series], "the chart out of sight is not needed"
        assert "▸gradients" in one.status
        await one.press("k")
        assert one.shown() == {"loss", "val"}


@run_to_end
async def test_a_large_pane_shows_all_and_asks_for_two_buckets_a_column() -> None:
    async with session(160, 48) as one:
        assert one.shown() == {"loss", "val", "grad", "lr"}
        for title in ("▸loss", "gradients", "lr"):
            assert title in one.text
        widest = max(request.buckets for request in one.open.values())
        assert 2 * 60 < widest <= 2 * 160
        assert {(r.low, r.high) for r in one.open.values()} == {(0.0, 1000.0)}


@run_to_end
async def test_nothing_is_asked_or_repainted_when_nothing_changed() -> None:
    async with session(100, 24) as one:
        rows = one.pane._rows
        one.pane.set_series(0, "run", SERIES)
        for request in one.open.values():
            one.pane.set_curves(answer(request))
        repainted: list[Region] = []
        original = one.pane.refresh
        one.pane.refresh = lambda *regions, **_: repainted.extend(regions)  # type: ignore[assignment, method-assign]
        one.pane._redraw()
        assert repainted == []
        assert one.pane._rows == rows
        request = next(r for r in one.open.values() if (0, "lr") in r.series)
        one.pane.set_curves(answer(request, end=500))
        one.pane._redraw()
        one.pane.refresh = original  # type: ignore[method-assign]
        assert repainted
        assert all(region.height == 1 and region.width < 98 for region in repainted)
        assert await one.settle() == []


@run_to_end
async def test_streamed_data_are_drawn_at_once_and_then_twice_a_second() -> None:
    async with session(60, 14) as one:
        request = next(iter(one.open.values()))
        drawn: list[int] = []
        original = one.pane._redraw

        def redraw() -> None:
            drawn.append(1)
            original()

        one.pane._redraw = redraw  # type: ignore[method-assign]
        one.pane._drawn_at = -math.inf
        for end in (500, 600, 700):
            one.pane.set_curves(answer(request, end))
        assert len(drawn) == 1
        assert one.pane._waiting is not None
        one.pane.action_smooth()
        assert len(drawn) == 2, "a key does not wait"
        assert one.pane._waiting is None


@run_to_end
async def test_values_that_are_no_numbers_are_marked_and_counted() -> None:
    async with session(60, 14) as one:
        assert "1 NaN/Inf" in one.rows[0]
        assert "×" in one.text


@run_to_end
async def test_the_cursor_reads_all_series_in_every_chart() -> None:
    async with session(160, 48) as one:
        await one.press("left")
        assert one.status == "step 990  loss 5.05  val 6.05"
        assert sum("┴" in row for row in one.rows) >= 2
        await one.press("j")
        assert one.status == "step 990  grad_norm 991"
        await one.press("escape")
        assert "step 990" not in one.status


@run_to_end
async def test_marks_are_visited_and_read_out() -> None:
    async with session(60, 14) as one:
        await one.press("n", "n")
        assert one.status.startswith("step 600  loss 7  val 8  ✖ loss [rises] here")
        await one.press("N")
        assert "◦ saved" in one.status
        await one.press("plus", "plus", "plus", "plus", "n")
        assert "loss [rises] here" in one.status, "out of the zoomed part, but known"
        low, high = next((r.low, r.high) for r in one.open.values())
        assert low is not None
        assert high is not None
        assert low <= 600 <= high < 700


@run_to_end
async def test_enter_asks_for_the_line_of_the_point() -> None:
    async with session(60, 14) as one:
        await one.press("enter")
        await one.press("n", "n", "enter")
        wanted = [m for m in one.host.heard if isinstance(m, CurvesPane.LineWanted)]
        assert [(m.run, m.key, m.axis, m.x) for m in wanted] == [(0, "loss", "step", 600.0)]


@run_to_end
async def test_zoom_asks_for_a_part_and_pan_moves_it_and_zero_ends_it() -> None:
    async with session(60, 14) as one:
        asked = await one.press("n", "n", "plus")
        low, high = asked[-1].low, asked[-1].high
        assert low is not None
        assert high is not None
        assert low <= 600 <= high
        assert high - low == 500
        asked = await one.press("H")
        assert asked[-1].low == low - 125
        asked = await one.press("0")
        assert (asked[-1].low, asked[-1].high) == (0, 1000)


@run_to_end
async def test_a_zoomed_window_at_the_end_follows_new_data() -> None:
    async with session(60, 14) as one:
        asked = await one.press("plus")
        ticket = asked[-1].ticket
        one.pane.set_curves(answer(asked[-1], end=1500))
        one.pane._redraw()
        asked = await one.settle(end=1500)
        assert asked[-1].ticket == ticket
        assert asked[-1].high is not None
        assert asked[-1].high >= 1490
        assert "follows" in one.status


@run_to_end
async def test_scale_smoothing_and_axis_change_what_is_drawn() -> None:
    async with session(60, 14) as one:
        await one.press("j")
        assert "y: log?" in one.rows[0]
        await one.press("y")
        assert one.rows[0].rstrip().endswith("log")
        await one.press("s", "s")
        assert "smooth medium" in one.status
        asked = await one.press("a")
        assert {r.axis for r in asked if r.series} == {"time"}
        assert one.pane.axis == "time"
        assert "x wall time" in one.status


@run_to_end
async def test_a_place_can_be_shown_and_a_metric_chosen_from_outside() -> None:
    async with session(60, 14) as one:
        await one.press("plus", "plus")
        one.pane.show_x("step", 100.0)
        await one.settle()
        assert one.status.startswith("step 100  loss 9.5")
        one.pane.choose("noise")
        await one.settle()
        assert one.shown() == {"noise"}
        one.pane.set_series(0, "run", SERIES)
        await one.settle()
        assert one.shown() == {"noise"}, "what was chosen stays"


@run_to_end
async def test_the_picker_adds_and_removes_charts() -> None:
    async with session(160, 48) as one:
        await one.press("m", "n", "o", "i", "space", "enter")
        assert one.shown() == {"loss", "val", "grad", "lr", "noise"}
        await one.press("m", "g", "r", "a", "d", "space", "enter")
        assert one.shown() == {"loss", "val", "lr", "noise"}


@run_to_end
async def test_other_runs_are_drawn_over_the_same_charts_by_name() -> None:
    async with session(100, 20) as one:
        one.pane.set_overlay(((3, "other", SERIES),))
        await one.settle()
        asked = {pair for request in one.open.values() for pair in request.series}
        assert {(0, "loss"), (3, "loss"), (0, "val"), (3, "val")} <= asked
        await one.press("left")
        assert "run loss 5.05" in one.status
        assert "other loss 5.05" in one.status


@run_to_end
async def test_another_run_ends_the_tickets_of_the_former() -> None:
    async with session(60, 14) as one:
        former = set(one.open)
        one.pane.set_series(1, "next", SERIES)
        await one.settle()
        assert not former & set(one.open)
        assert {run for r in one.open.values() for run, _ in r.series} == {1}


@run_to_end
async def test_a_hidden_pane_needs_nothing_and_a_shown_one_asks_again() -> None:
    async with session(60, 14) as one:
        one.pane.display = False
        await one.settle()
        assert one.open == {}
        one.pane.display = True
        await one.settle()
        assert one.shown() == {"loss", "val"}


@run_to_end
async def test_a_new_theme_recolours_the_curves() -> None:
    async with session(60, 14) as one:
        before = [s.style for s in one.pane.render_line(0)]
        one.host.theme = "textual-light"
        await one.settle()
        assert [s.style for s in one.pane.render_line(0)] != before


@run_to_end
async def test_without_braille_there_are_stars() -> None:
    async with session(60, 14) as one:
        assert any(0x2800 < ord(c) < 0x2900 for c in one.text)
        one.pane.is_ascii = True
        assert not any(0x2800 < ord(c) < 0x2900 for c in one.text)
        assert "*" in one.text

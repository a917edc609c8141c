"""The metric picker: filter, choose, leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from mltd.tui.engine.protocol import SeriesInfo
from mltd.tui.screens.metric_picker import MetricPicker
from tests.tui.hosting import Host

SERIES = tuple(
    SeriesInfo(key, name, role, "other", ("step",), 12_345, 2.314, 0.0, 9.0)
    for key, name, role in (
        ("a", "train_loss", "train/loss"),
        ("b", "[bold]odd\x1b[2J", None),
        ("c", "layer.3.grad", None),
    )
)


def run_to_end(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    """Let pytest call a test that awaits."""

    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


class Session:
    """An open picker and how it ended."""

    def __init__(self, picker: MetricPicker, pilot: Pilot[None]) -> None:
        self.picker, self.pilot = picker, pilot
        self.ended: list[frozenset[str] | None] = []

    @property
    def listed(self) -> list[str]:
        options = self.picker.query_one(OptionList)
        return [str(options.get_option_at_index(i).prompt) for i in range(options.option_count)]


@asynccontextmanager
async def opened() -> AsyncIterator[Session]:
    host = Host(Static())
    async with host.run_test(size=(80, 24)) as pilot:
        session = Session(MetricPicker(SERIES, frozenset({"a"})), pilot)
        host.push_screen(session.picker, session.ended.append)
        await pilot.pause()
        yield session
        assert not host.failures


@run_to_end
async def test_metrics_are_listed_as_text_with_points_and_last_value() -> None:
    async with opened() as one:
        first, odd, _ = one.listed
        assert first.startswith("✔ train_loss")
        assert first.split()[-2:] == ["12,345", "2.314"]
        assert odd.startswith("  [bold]odd·[2J")


@run_to_end
async def test_typing_filters_and_space_chooses_and_enter_ends() -> None:
    async with opened() as one:
        await one.pilot.press("g", "r", "a")
        assert len(one.listed) == 1
        await one.pilot.press("space")
        assert one.listed[0].startswith("✔ layer.3.grad")
        await one.pilot.press("escape")
        assert len(one.listed) == 3, "escape clears the filter first"
        await one.pilot.press("space", "enter")
        await one.pilot.pause()
        assert one.ended == [frozenset({"c"})]


@run_to_end
async def test_enter_without_a_choice_takes_the_highlighted_metric() -> None:
    async with opened() as one:
        await one.pilot.press("down", "down", "enter")
        await one.pilot.pause()
        assert one.ended == [frozenset({"a", "c"})]


@run_to_end
async def test_escape_changes_nothing_and_a_filter_may_match_nothing() -> None:
    async with opened() as one:
        await one.pilot.press("q", "z", "space")
        assert one.listed == []
        await one.pilot.press("backspace", "ctrl+u", "escape")
        await one.pilot.pause()
        assert one.ended == [None]

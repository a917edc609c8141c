"""A small app that holds one widget and remembers what it said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from mltd.tui import palette
from mltd.tui.pane import GuardedApp, PaneFailed
from mltd.tui.theming import stylesheets
from tests.waiting import PATIENCE


class Host(GuardedApp):
    """Shows a widget as the real app would; `heard` holds every message it posted."""

    CSS_PATH: ClassVar[list[str | PurePath]] = list(stylesheets())

    def __init__(self, widget: Widget, *listened: type[Message]) -> None:
        super().__init__()
        self._widget = widget
        self._listened = listened
        self.heard: list[Message] = []
        self.failures: list[PaneFailed] = []

    def compose(self) -> ComposeResult:
        yield self._widget

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(palette.DEFAULTS)

    async def _on_message(self, message: Message) -> None:
        if isinstance(message, PaneFailed):
            self.failures.append(message)
        elif isinstance(message, self._listened):
            self.heard.append(message)
        await super()._on_message(message)


async def pause_until(pilot: Pilot[Any], is_true: Callable[[], object]) -> None:
    """Wait for something that comes by itself."""
    async with asyncio.timeout(PATIENCE):
        while not is_true():
            await pilot.pause(0.01)

"""The looks that a model takes: at runs by the main loop, at files beside it."""

from __future__ import annotations

import threading
from typing import Any

from mltd.diagnosis.second_opinion import aside
from mltd.diagnosis.tools import ToolBox, ToolResult

from .errands import Leave, fetched

SECONDS = 30.0
"""What a look at a run may wait for the main loop, which usually comes to it in milliseconds."""
AT_ONCE = 2
"""Looks at files side by side: login nodes are shared."""


class ToolCalls:
    """Calls the tools of a box so that the main loop never waits for a file."""

    box: ToolBox

    def __init__(self, leave: Leave) -> None:
        self._leave = leave
        self._places = threading.Semaphore(AT_ONCE)

    async def __call__(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """What came of a call; never raises."""
        box = self.box
        if box.reads_runs(name):
            try:
                return await fetched(self._leave, lambda: box.call(name, arguments), SECONDS)
            except TimeoutError:
                sentence = f"the runs could not be looked at within {SECONDS:.0f} s: try again"
                return ToolResult(sentence, True, f"{name}: {sentence}")

        def look() -> ToolResult:
            with self._places:
                return box.call(name, arguments)

        return await aside(look)

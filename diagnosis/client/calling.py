"""The tools that the model asks for, called side by side."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Protocol

from ..events import Event, ToolCalled, ToolDone
from .plain import Block, one_line, sendable
from .streaming import Call

AT_ONCE = 8
"""Calls of one turn that are made; the model may ask for the rest again."""
_CHARACTERS = 40_000
_FAILED = "the tool failed; try another way"


class ToolResult(Protocol):
    """What came of one call."""

    @property
    def text(self) -> str:
        """For the model."""

    @property
    def is_error(self) -> bool:
        """Whether it did not work."""

    @property
    def brief(self) -> str:
        """For the person, on one line."""


CallTool = Callable[[str, dict[str, Any]], Awaitable[ToolResult]]


async def call_all(
    calls: Sequence[Call],
    known: Collection[str],
    call_tool: CallTool,
    on_event: Callable[[Event], None],
) -> list[Block]:
    """The result of every call in the order of the calls; only known tools are ever called."""

    async def one(number: int, call: Call) -> Block:
        on_event(ToolCalled(call.id, one_line(call.name, 60), brief_of(call.arguments)))
        if call.name not in known:
            names = ", ".join(sorted(known))
            text = f"There is no tool {one_line(call.name, 60)}. There are: {names}."
            brief, is_error = "no such tool", True
        elif number >= AT_ONCE:
            text, brief, is_error = f"At most {AT_ONCE} calls at once.", "too many at once", True
        else:
            text, brief, is_error = await _called(call, call_tool)
        on_event(ToolDone(call.id, one_line(brief), is_error))
        return result_block(call, text, is_error)

    return list(await asyncio.gather(*(one(number, call) for number, call in enumerate(calls))))


async def _called(call: Call, call_tool: CallTool) -> tuple[str, str, bool]:
    try:
        result = await call_tool(call.name, call.arguments)
    except Exception as error:  # noqa: BLE001 - a tool that breaks must not end the conversation
        return _FAILED, f"failed: {type(error).__name__}", True
    text = result.text
    if len(text) > _CHARACTERS:
        text = text[:_CHARACTERS] + "\n(cut here)"
    return text, result.brief, result.is_error


def result_block(call: Call, text: str, is_error: bool) -> Block:
    """The answer to one call, as the model gets it."""
    block = {"type": "tool_result", "tool_use_id": call.id, "content": sendable(text) or "(empty)"}
    return {**block, "is_error": True} if is_error else block


def brief_of(arguments: dict[str, Any]) -> str:
    """Arguments on one line: `name=run1/train.log first=10`."""
    shown = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )
    return one_line(" ".join(shown))

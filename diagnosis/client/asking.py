"""The parameters of one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from .history import History
from .models import parse_name
from .plain import Block

SUBMIT = "submit_diagnosis"
"""The tool by which the model answers."""
_MARK = {"type": "ephemeral"}
_FIRST_ADAPTIVE = (4, 6)


class ToolSpec(Protocol):
    """A tool as the model sees it."""

    @property
    def name(self) -> str:
        """What it is called by."""

    @property
    def description(self) -> str:
        """What it does and when to use it."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""


def tool_definition(tool: ToolSpec) -> Block:
    """A tool in the form of the service."""
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


class Extras(NamedTuple):
    """What not every model, and not every gateway before one, understands."""

    has_thinking: bool = True
    is_strict: bool = True
    """The service itself keeps the answer to its form."""


def parameters(
    *,
    model: str,
    system: str,
    tools: Sequence[Block],
    history: History,
    answer_tokens: int,
    extras: Extras,
) -> dict[str, Any]:
    """What `messages.stream` is called with; the same history always gives the same bytes."""
    # No `tool_choice`: the newer models reject being forced, so the prompt asks for the answer.
    request: dict[str, Any] = {
        "model": model,
        "max_tokens": answer_tokens,
        "system": [{"type": "text", "text": system, "cache_control": _MARK}],
        "tools": [_strict(tool) for tool in tools] if extras.is_strict else list(tools),
        "messages": _marked(history.next_messages()),
    }
    if extras.has_thinking and (thinking := _thinking(model)):
        request["thinking"] = thinking
    return request


def _strict(tool: Block) -> Block:
    # The arguments of the other tools are checked by the tools, in words that help.
    is_answer = tool["name"] == SUBMIT
    is_closed = tool["input_schema"].get("additionalProperties") is False
    return {**tool, "strict": True} if is_answer and is_closed else tool


def _marked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # The evidence in the first message stays for the whole conversation, the end moves on; with
    # the system prompt that is three of the four marks that a request may have. The history
    # itself is never marked, because what was sent must stay as it was.
    for index in {0, len(messages) - 1}:
        message = messages[index]
        if message["role"] != "user":
            continue
        *before, last = message["content"]
        marked = {**last, "cache_control": _MARK}
        messages[index] = {"role": "user", "content": [*before, marked]}
    return messages


def _thinking(model: str) -> Block | None:
    # Older models want a budget for their thoughts and show text between their looks anyway.
    name = parse_name(model)
    is_adaptive = name.version >= _FIRST_ADAPTIVE or (name.family == "mythos" and name.is_preview)
    return {"type": "adaptive", "display": "summarized"} if is_adaptive else None

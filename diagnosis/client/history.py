"""What was said so far, in the form in which it is sent again.

Newer models sign their thoughts together with everything before them, so messages are only ever
appended. A turn that was cut or refused leaves no message: what we said waits to be said again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import ConsultError
from .plain import Block, sendable
from .pricing import NOTHING, Tokens

_FORM = 1
_THOUGHTS = ("thinking", "redacted_thinking")
_NOTED_CHARACTERS = 4000


@dataclass(slots=True)
class History:
    """The messages of one conversation, and what it has used."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    pending: list[Block] = field(default_factory=list)
    """What we say next: results of tools, notes, the question."""
    used: Tokens = NOTHING
    dollars: float | None = 0.0
    seconds: float = 0.0

    def say(self, text: str) -> None:
        """Add a text to what we say next."""
        if text.strip():
            self.pending.append({"type": "text", "text": sendable(text)})

    def next_messages(self) -> list[dict[str, Any]]:
        """Everything so far with what we say next, ready to be sent."""
        return (
            [*self.messages, {"role": "user", "content": self.pending}]
            if self.pending
            else [*self.messages]
        )

    def keep(self, blocks: Sequence[Block]) -> None:
        """The model has answered: what we said is said, and its turn is kept."""
        if self.pending:
            self.messages.append({"role": "user", "content": self.pending})
            self.pending = []
        if blocks:
            self.messages.append({"role": "assistant", "content": list(blocks)})

    def note_cut(self, text: str) -> None:
        """The model was cut off; remind it of what the person already read."""
        if text.strip():
            self.say(f"(Your last turn was cut off after: {text[-_NOTED_CHARACTERS:]})")

    def forget_thoughts(self) -> None:
        """Leave out all thoughts: another model, or other tools, could not take them back."""
        for message in self.messages:
            message["content"] = [
                block for block in message["content"] if block.get("type") not in _THOUGHTS
            ]
        self.messages = [message for message in self.messages if message["content"]]

    def has_thoughts(self) -> bool:
        """Whether any thought would be sent."""
        return any(
            block.get("type") in _THOUGHTS for each in self.messages for block in each["content"]
        )

    def to_json(self, seal: str) -> str:
        """Everything that a later follow-up needs; holds no key."""
        return json.dumps(
            {
                "form": _FORM,
                "seal": seal,
                "messages": self.messages,
                "pending": self.pending,
                "used": self.used,
                "dollars": self.dollars,
                "seconds": self.seconds,
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str, seal: str) -> History:
        """A conversation read back; under another seal it goes on without its thoughts."""
        try:
            kept = json.loads(text)
            if kept["form"] != _FORM:
                raise ValueError(f"form {kept['form']}")
            history = cls(
                [_message(each) for each in kept["messages"]],
                [_block(each) for each in kept["pending"]],
                Tokens(*(int(count) for count in kept["used"])),
                None if kept["dollars"] is None else float(kept["dollars"]),
                float(kept["seconds"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ConsultError(
                f"The earlier conversation cannot be read ({type(error).__name__})",
                hint="begin a new one",
                kind="history",
            ) from None
        if kept.get("seal") != seal:
            history.forget_thoughts()
        return history


def seal_of(model: str, system: str, tools: Sequence[Block]) -> str:
    """A mark that changes with the model, the prompt and the tools."""
    whole = json.dumps([model, system, list(tools)], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _message(value: Any) -> dict[str, Any]:
    if value["role"] not in ("user", "assistant"):
        raise ValueError("role")
    return {"role": value["role"], "content": [_block(each) for each in value["content"]]}


def _block(value: Any) -> Block:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise TypeError("block")
    return value

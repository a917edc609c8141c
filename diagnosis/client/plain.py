"""Values that can be sent and kept: what JSON in UTF-8 can hold, and nothing else."""

from __future__ import annotations

import json
import math
from typing import Any

Block = dict[str, Any]
"""One content block as the service writes it: text, thinking, tool_use, tool_result."""


def sendable(value: Any) -> Any:
    """The same value without what UTF-8 or JSON cannot hold; bytes of a broken log come as such."""
    if isinstance(value, str):
        return value if _is_clean(value) else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {sendable(str(name)): sendable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def arguments_of(raw: str) -> dict[str, Any]:
    """The arguments of a tool call; `ValueError` says why they are none."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, parse_constant=lambda name: None)
    except RecursionError:
        raise ValueError("the arguments of a call are nested too deeply") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"the arguments of a call are not valid JSON ({place})") from None
    if not isinstance(value, dict):
        raise ValueError("the arguments of a call are not an object")
    clean: dict[str, Any] = sendable(value)
    return clean


def one_line(text: str, limit: int = 160) -> str:
    """A text on one line, without control characters, cut where it gets long."""
    shown = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    words = " ".join(shown.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def _is_clean(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True

"""The JSON object that a model's reply is, or holds among other words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .errors import AnswerError

_LONGEST = 2_000_000
_FENCE = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_MOST_STARTS = 50
_KEYS = frozenset({"status", "root_causes", "summary"})


def object_in(text: str) -> dict[str, Any]:
    """The object in a reply: the whole of it, one in a fence, or the first that looks like it."""
    problem = "it holds no JSON object"
    if len(text) > _LONGEST:
        raise AnswerError.of([f"it is longer than {_LONGEST:,} characters"])
    found: list[dict[str, Any]] = []
    for candidate in _candidates(text):
        try:
            value = loads(candidate)
        except ValueError as error:
            if candidate.startswith("{"):
                problem = f"its JSON cannot be read ({error})"
            continue
        if isinstance(value, dict):
            if _KEYS & value.keys():
                return value
            found.append(value)
    if not found:
        raise AnswerError.of([problem])
    return found[0]


def loads(text: str) -> Any:
    """JSON, forgiving commas before a closing bracket: they cannot change what is meant."""
    try:
        return _loads(text)
    except ValueError:
        mended = _STRING_OR_COMMA.sub(lambda m: "" if m[0] == "," else m[0], text)
        return _loads(mended)


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}") from None


def _candidates(text: str) -> Iterator[str]:
    yield text.strip()
    for fence in _FENCE.finditer(text):
        yield fence[1].strip()
    # Words around it: from an opening brace as far as the last closing one.
    end = text.rfind("}") + 1
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if not 0 <= start < end:
            return
        yield text[start:end]
        start = text.find("{", start + 1)

"""Settings of a run, flat: a key with dots between its levels, and the value as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

DEEPEST = 12
MOST_KEYS = 20_000


def flat_settings(config: Mapping[str, object]) -> dict[str, str]:
    """Every setting by its key: `optimizer.lr` to `0.1`."""
    found: dict[str, str] = {}
    for key, value in _leaves("", config, DEEPEST):
        if key:
            found.setdefault(key, value)
        if len(found) >= MOST_KEYS:
            break
    return found


def _leaves(prefix: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value and depth:
        for key, item in value.items():
            yield from _leaves(f"{prefix}.{key}" if prefix else str(key), item, depth - 1)
        return
    if isinstance(value, list | tuple) and depth and any(isinstance(v, Mapping) for v in value):
        for number, item in enumerate(value):
            yield from _leaves(f"{prefix}.{number}", item, depth - 1)
        return
    yield prefix, written(value)


def written(value: object) -> str:
    """A value as text: strings as they are, the rest as JSON has it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return str(type(value).__name__)

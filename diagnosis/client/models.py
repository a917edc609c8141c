"""Which model answers, by what the installed SDK lists."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_NAME = re.compile(r"""["'](claude-[A-Za-z0-9.-]+)["']""")
_DATE_DIGITS = 8
LAST_KNOWN = "claude-sonnet-5-5"
"""For an SDK whose list cannot be found."""


class ModelName(NamedTuple):
    """What the name of a model tells."""

    family: str
    version: tuple[int, ...]
    date: int
    """0 for an alias that moves along with its newest snapshot."""
    is_preview: bool


def parse_name(name: str) -> ModelName:
    """The parts of `claude-sonnet-4-5-20250929` or `claude-3-7-sonnet-latest`."""
    family, version, date, is_preview = "", [], 0, False
    for part in name.split("-")[1:]:
        if part.isdecimal() and part.isascii():
            if len(part) >= _DATE_DIGITS:
                date = int(part[:_DATE_DIGITS])
            else:
                version.append(int(part))
        elif part == "preview":
            is_preview = True
        elif part != "latest":
            family = f"{family}-{part}" if family else part
    while version and version[-1] == 0:
        version.pop()  # 4.0 and 4 are the same
    return ModelName(family, tuple(version), date, is_preview)


def newest(names: Iterable[str], family: str = "sonnet") -> str:
    """The highest version of a family; its undated name before its dated ones; empty if none."""
    ranked = [
        (parsed.version, parsed.date == 0, parsed.date, name)
        for name in names
        if (parsed := parse_name(name)).family == family and not parsed.is_preview
    ]
    return max(ranked)[-1] if ranked else ""


def listed() -> tuple[str, ...]:
    """The models that the installed SDK names; none without an SDK."""
    # Read as text: the SDK takes over a second to import, and this is asked before anybody has
    # agreed to a consultation.
    found = importlib.util.find_spec("anthropic")
    for place in found.submodule_search_locations or () if found else ():
        try:
            text = Path(place, "types", "model.py").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        return tuple(dict.fromkeys(_NAME.findall(text)))
    return ()


def choose_model(wanted: str = "") -> str:
    """The wanted model, or else the newest Sonnet that the installed SDK lists."""
    return wanted or newest(listed()) or LAST_KNOWN

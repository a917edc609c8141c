"""The key for Claude: is there one, and can it be one? It is never shown, not even in part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "Claude"
NAME = "ANTHROPIC_API_KEY"
_PLAUSIBLE = re.compile(r"sk-ant-[A-Za-z0-9_-]{20,500}")
_EXPORT = f"`export {NAME}=...`"

_line = partial(Line, AREA)


def key(around: Surroundings) -> Iterator[Line]:
    """Set or not, and plausible or not; nothing is sent anywhere to find out."""
    value = around.environment.get(NAME)
    if value is None:
        yield _line(
            State.OK,
            f"{NAME} is not set: no second opinion by Claude",
            f"{_EXPORT}, if you want one",
        )
    elif fault := fault_of(value):
        yield _line(State.WARNING, f"{NAME} is set, but {fault}", f"copy the key anew: {_EXPORT}")
    elif not _is_installed():
        yield _line(
            State.WARNING,
            f"{NAME} is set, but the package anthropic is not installed",
            "`pip install 'mltd-tui[claude]'`",
        )
    else:
        yield _line(State.OK, f"{NAME} is set and looks like a key")


def fault_of(value: str) -> str:
    """Why this cannot be a key, in words that tell nothing about it; empty if it can be one."""
    if not value.strip():
        return "empty"
    if value != value.strip():
        return "has white space around it"
    if value[0] in "'\"" or value[-1] in "'\"":
        return "has quotes around it"
    if not _PLAUSIBLE.fullmatch(value):
        return "does not have the form of a key"
    return ""


def _is_installed() -> bool:
    try:
        version("anthropic")
    except PackageNotFoundError:
        return False
    return True


CHECKS = (Check(AREA, "the API key", key),)

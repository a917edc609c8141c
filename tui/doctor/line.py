"""What a check has to say: one fact, whether it is good, and the one thing to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """How good a fact is; a warning costs comfort, a problem something that was asked for."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class Line(NamedTuple):
    """One line of the answer."""

    area: str
    state: State
    fact: str
    advice: str = ""
    """The one thing to do; empty if nothing is."""


def grouped(lines: Sequence[Line]) -> list[Line]:
    """Lines of one area together, areas in the order of their first lines."""
    areas = list(dict.fromkeys(line.area for line in lines))
    return sorted(lines, key=lambda line: areas.index(line.area))


def worst(lines: Sequence[Line]) -> State:
    """How things stand as a whole."""
    found = {line.state for line in lines}
    return next((s for s in (State.PROBLEM, State.WARNING) if s in found), State.OK)

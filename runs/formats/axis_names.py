"""Logged fields as coordinates: which field supplies which axis, and with what value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from ..harvest import AXES
from ..roles import normalise
from ..settings import current

EARLIEST_UNIX_TIME = 3e8
"""Seconds; anything smaller (July 1979) is a duration, not a moment."""
LATEST_UNIX_TIME = 1e10
_COUNTERS = frozenset({"i", "n", "k", "idx", "no", "nr"})
"""What the first column of a table is called that numbers its rows."""


def axis_of(name: str) -> str | None:
    """The axis that a field of this name holds, if it is one."""
    axis = current().roles.axis_of(name)
    return axis if axis in AXES else None


def is_counter(first: str) -> bool:
    """True for the first column of a table if it only numbers the rows."""
    return normalise(first) in _COUNTERS


def axis_sources(names: Sequence[str]) -> dict[str, list[int]]:
    """Axis to the positions of the names that can supply it, the most trustworthy first."""
    found: dict[str, list[tuple[int, int]]] = {}
    roles = current().roles
    for position, name in enumerate(names):
        axis, rank = roles.axis_rank(name)
        if axis in AXES:
            found.setdefault(axis, []).append((rank, position))
    if names and not {"step", "epoch"} & found.keys() and is_counter(names[0]):
        found["step"] = [(0, 0)]
    return {axis: [position for _, position in sorted(places)] for axis, places in found.items()}


def unix_seconds(value: float) -> float:
    """A moment as seconds since 1970, whatever its unit; NaN if it is no moment."""
    for scale in (1.0, 1e3, 1e6, 1e9):
        seconds = value / scale
        if EARLIEST_UNIX_TIME <= seconds < LATEST_UNIX_TIME:
            return seconds
    return math.nan


def parse_moment(text: str) -> float:
    """An ISO date and time as seconds since 1970 (UTC unless it says otherwise), else NaN."""
    if len(text) < 16 or not text[:4].isdigit():
        return math.nan
    try:
        moment = datetime.fromisoformat(text.strip().replace("/", "-"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def coordinate(axis: str, value: float) -> float:
    """A logged value as a coordinate on this axis; NaN where it cannot be one."""
    if axis == "time":
        return unix_seconds(value)
    # Some writers log -1 for "not within an epoch".
    return value if 0 <= value < math.inf else math.nan

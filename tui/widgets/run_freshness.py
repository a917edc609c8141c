"""How fresh a run's data are: what is old must look old."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..engine.protocol import RunStatus

PATIENCE_SECONDS = 10.0
PATIENCE_INTERVALS = 5
LAG_SECONDS = 1.0
"""Less behind than this is not worth saying."""
GROWTHS = 3
"""How often in a row the lag must grow to be more than a hiccup."""
GROWING_SECONDS = 3.0
_CAN_BE_LATE = ("running", "unknown")


@dataclass(frozen=True, slots=True)
class Freshness:
    """Age of the newest line, and whether that is more than one would expect."""

    age: float | None = None
    is_stale: bool = False
    is_lagging: bool = False
    """What is judged falls behind what is written."""


def freshness(status: RunStatus | None, now: float, growths: int = 0) -> Freshness:
    """How fresh the data are at a moment; `growths`: how often in a row the lag grew."""
    if status is None:
        return Freshness()
    age = None
    if status.last_line_at is not None and math.isfinite(status.last_line_at):
        age = max(0.0, now - status.last_line_at)
    limit = patience(status)
    lag = status.lag_seconds if math.isfinite(status.lag_seconds) else 0.0
    # While a big log is read for the first time, being behind is progress, and said as such.
    is_lagging = status.share_read >= 1 and (
        lag > limit or (growths >= GROWTHS and lag > GROWING_SECONDS)
    )
    is_late = status.state in _CAN_BE_LATE and age is not None and age > limit
    return Freshness(age, status.state == "stalled" or is_late or is_lagging, is_lagging)


def patience(status: RunStatus) -> float:
    """After how many silent seconds data are older than expected."""
    interval = status.interval_seconds
    if interval is None or not math.isfinite(interval):
        return PATIENCE_SECONDS
    return max(PATIENCE_SECONDS, PATIENCE_INTERVALS * interval)

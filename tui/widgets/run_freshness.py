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
    unheard: float | None = None
    """Seconds since the host of the run last answered; None if it is this one, or answers."""


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
    if status.job is not None and (status.job.is_over or status.job.is_waiting):
        is_late = False  # nobody expects it to write
    unheard = None
    if status.link is not None and status.link.state != "connected":
        unheard = max(0.0, now - (status.link.heard_at or now))
    is_stale = status.state == "stalled" or is_late or is_lagging or unheard is not None
    return Freshness(age, is_stale, is_lagging, unheard)


def patience(status: RunStatus) -> float:
    """After how many silent seconds data are older than expected."""
    interval = status.interval_seconds
    if interval is None or not math.isfinite(interval):
        return PATIENCE_SECONDS
    return max(PATIENCE_SECONDS, PATIENCE_INTERVALS * interval)

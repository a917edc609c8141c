"""What became of a criterion, and how many more points would decide it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from ..model.result import Outcome

PASSED, FAILED, INCONCLUSIVE = Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE
_MOST_NEEDED = 100_000
"""A larger number of points says no more than this one: it is hopeless."""


class Weight(StrEnum):
    """What an outcome rests on, as far as that gives it precedence over others."""

    PLAIN = "plain"
    EARLY = "early"
    """Inconclusive: the run has not been where the incident showed itself."""
    GRAVE = "grave"
    """Failed, wherever the run has been: not finite, an error, or the target clearly worse."""
    NO_TEST = "no test"
    """Inconclusive: the run was made without the change."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An outcome and the numbers that decide it."""

    outcome: Outcome
    said: str
    why: str = ""
    """The same without the numbers of the metric, to be put behind them."""
    needed: int = 0
    is_excluded: bool = False
    """It would not hold with more points either."""
    is_blocking: bool = True
    """Being inconclusive, it keeps an experiment from passing."""
    weight: Weight = Weight.PLAIN


def more_points(points: int, reach: float, wanted: float) -> int:
    """How many more until an interval reaches only as far as wanted, if all else stays as it is."""
    if wanted <= 0 or not math.isfinite(reach):
        return _MOST_NEEDED
    # A ratio beyond the largest answer changes nothing, but its square may be no number any more.
    ratio = min(abs(reach / wanted), float(_MOST_NEEDED))
    # An interval shrinks with the root of the points.
    return max(1, math.ceil(min(float(_MOST_NEEDED), points * (ratio**2 - 1))))


def counted(needed: int, name: str) -> str:
    """`it takes at least 12 more points of val/loss`."""
    points = "point" if needed == 1 else "points"
    return f"it takes at least {needed:,} more {points} of {name}"

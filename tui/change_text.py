"""A change of a metric in words: how much, how sure, and whether that is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from .engine.curve_protocol import CompareRow
from .quantities import short_value

_SAME = 0.005
"""Share of the larger value; runs that differ in their seed alone differ by as much."""
_NEAR = 0.02
"""An interval around 0 that reaches no further than this shows that nothing changed."""
_MOST = 9999
"""Per cent; more is told as more."""


class Verdict(StrEnum):
    """What became of a metric."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNCLEAR = "unclear"
    """The interval includes no change at all, or there are too few points for one."""
    UP = "up"
    DOWN = "down"
    """Up and down where neither is better."""
    MISSING = ""
    """Only one of the runs has it."""

    @property
    def glyph(self) -> str:
        """A shape, for those who see no colours."""
        shapes = {"better": "▲", "worse": "▼", "same": "=", "unclear": "≈", "up": "↑", "down": "↓"}
        return shapes.get(self, " ")

    @property
    def meaning(self) -> str:
        """Name of its colour."""
        return {"better": "severity-fine", "worse": "severity-critical"}.get(self, "quiet")


@dataclass(frozen=True, slots=True)
class Change:
    """A change, ready to be shown."""

    verdict: Verdict
    difference: str = ""
    percent: str = ""
    interval: str = ""
    """95 % interval of the percentage, `-17.0..-11.2%`."""
    effect: str = ""
    """Difference in units of the noise."""


def change_of(row: CompareRow) -> Change:
    """How a metric of the second run differs from the first."""
    before, after = row.before, row.after
    if before is None or after is None:
        return Change(Verdict.MISSING)
    if not math.isfinite(before) or not math.isfinite(after):
        return Change(_verdict_of_bad(before, after))
    difference = after - before
    verdict = _verdict_of(row, difference, max(abs(before), abs(after)))
    signed = f"{'+' if difference > 0 else ''}{short_value(difference)}"
    interval = _interval(row)
    is_said = interval or verdict is not Verdict.SAME
    percent = _percent(difference, before) if is_said else ""
    return Change(verdict, signed, percent, interval, _effect(row.effect))


def _verdict_of(row: CompareRow, difference: float, larger: float) -> Verdict:
    low, high = row.low, row.high
    might_be_nothing = low is not None and high is not None and low <= 0 <= high
    is_near = low is not None and high is not None and low >= -_NEAR and high <= _NEAR
    if low is None and row.needed:
        # Too few points for an interval are too few to tell, be they ever so alike.
        return Verdict.UNCLEAR
    if abs(difference) <= _SAME * larger or (might_be_nothing and is_near):
        return Verdict.SAME
    if might_be_nothing:
        return Verdict.UNCLEAR
    if row.smaller_is_better is None:
        return Verdict.UP if difference > 0 else Verdict.DOWN
    return Verdict.BETTER if (difference < 0) is row.smaller_is_better else Verdict.WORSE


def _verdict_of_bad(before: float, after: float) -> Verdict:
    if math.isfinite(before):
        return Verdict.WORSE
    return Verdict.BETTER if math.isfinite(after) else Verdict.SAME


def _percent(difference: float, before: float) -> str:
    if before == 0:
        return ""
    percent = 100 * difference / abs(before)
    if abs(percent) >= 10_000:
        return "> +9999%" if percent > 0 else "< -9999%"
    return f"{_signed(percent)}%"


def _interval(row: CompareRow) -> str:
    if row.low is None or row.high is None:
        return ""
    ends = (max(-_MOST, min(_MOST, 100 * end)) for end in (row.low, row.high))
    return f"{'..'.join(map(_signed, ends))}%"


def _signed(percent: float) -> str:
    if abs(percent) < 0.05:
        return "0.0"
    return f"{percent:+.1f}" if abs(percent) < 100 else f"{percent:+.0f}"


def _effect(effect: float | None) -> str:
    if effect is None or not math.isfinite(effect):
        return ""
    if abs(effect) >= 100:
        return "> +99" if effect > 0 else "< -99"
    return "0.0" if abs(effect) < 0.05 else f"{effect:+.1f}"

"""A change of a metric in words: how much, and whether that is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from .engine.protocol import CompareRow
from .quantities import short_value

_SAME = 0.005
"""Share of the larger value; runs that differ in their seed alone differ by as much."""


class Verdict(StrEnum):
    """What became of a metric."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UP = "up"
    DOWN = "down"
    """Up and down where neither is better."""
    MISSING = ""
    """Only one of the runs has it."""

    @property
    def glyph(self) -> str:
        """A shape, for those who see no colours."""
        return {"better": "▲", "worse": "▼", "same": "=", "up": "↑", "down": "↓", "": " "}[self]

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


def change_of(row: CompareRow) -> Change:
    """How a metric of the second run differs from the first."""
    before, after = row.before, row.after
    if before is None or after is None:
        return Change(Verdict.MISSING)
    if not math.isfinite(before) or not math.isfinite(after):
        return Change(_verdict_of_bad(before, after))
    difference = after - before
    signed = f"{'+' if difference > 0 else ''}{short_value(difference)}"
    if abs(difference) <= _SAME * max(abs(before), abs(after)):
        return Change(Verdict.SAME, signed, "")
    percent = _percent(difference, before)
    if row.smaller_is_better is None:
        return Change(Verdict.UP if difference > 0 else Verdict.DOWN, signed, percent)
    is_better = (difference < 0) is row.smaller_is_better
    return Change(Verdict.BETTER if is_better else Verdict.WORSE, signed, percent)


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
    return f"{percent:+.1f}%" if abs(percent) < 100 else f"{percent:+.0f}%"

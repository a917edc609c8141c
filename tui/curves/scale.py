"""The y axis: which values it spans and where a value lies on it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from .numbers import narrow
from .ticks import Tick, decade_ticks, nice_step, value_ticks

LABEL = 6
"""Widest label of the y axis, in columns; fixed, so that plots above each other line up."""
_LARGEST = sys.float_info.max
_PARTS = 10
"""The ends are moved out to a round tenth, so that growing curves seldom rescale the axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A y axis; on a logarithmic one `low` and `high` are powers of ten."""

    low: float
    high: float
    is_log: bool = False

    def fraction(self, value: float) -> float:
        """Where a value lies: 0 at the bottom, 1 at the top, outside them if it is beyond."""
        if self.is_log:
            return (math.log10(value) - self.low) / (self.high - self.low)
        # Quarters, because the whole difference of two huge numbers may be infinite.
        return (value / 4 - self.low / 4) / (self.high / 4 - self.low / 4)

    def ticks(self, most: int) -> list[Tick]:
        """Labelled values; their places are fractions."""
        make = decade_ticks if self.is_log else value_ticks
        span = self.high / 4 - self.low / 4
        found = make(self.low, self.high, most, LABEL)
        if len(found) < 2 <= most:
            # One number is no scale: the ends then, however crooked they are.
            ends = ((end, 10**end if self.is_log else end) for end in (self.low, self.high))
            found = [Tick(end, narrow(value, LABEL)) for end, value in ends]
        return [Tick((t.at / 4 - self.low / 4) / span, t.label) for t in found]


def scale_for(low: float, high: float, *, is_log: bool, from_zero: bool = False) -> Scale:
    """A scale with round ends for values from `low` to `high`."""
    if is_log:
        low, high = math.log10(low), math.log10(high)
        if high - low < 0.02:
            return Scale(low - 0.5, high + 0.5, is_log=True)
    elif high / 2 - low / 2 <= max(abs(low), abs(high)) * 1e-9:
        # A constant lies in the middle.
        middle = low / 2 + high / 2
        room = abs(middle) * 0.1 if abs(middle) > 1e-300 else 1.0
        return Scale(max(-_LARGEST, middle - room), min(_LARGEST, middle + room))
    if from_zero and not is_log and 0 < low < 0.6 * high:
        low = 0.0
    step = nice_step((high / 2 - low / 2) / _PARTS * 2)
    low_end, high_end = math.floor(low / step + 1e-6) * step, math.ceil(high / step - 1e-6) * step
    if not (math.isfinite(low_end) and math.isfinite(high_end)):
        low_end, high_end = low, high
    return Scale(min(low, low_end), max(high, high_end), is_log)

"""Axes of a drawn chart: linear or logarithmic, with round ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import numbers

_LOG_RANGE = 200.0
"""Positive values that differ by more than this are drawn on a logarithmic axis."""
_LINEAR_ROLES = ("lr", "accuracy", "score", "mfu")
"""What is read on a linear axis whatever its range."""
_ROOM = 0.04
"""Share of the range that is left free above and below."""
_HUGE = 1e300


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`; on a logarithmic one they are powers of ten."""

    low: float
    high: float
    is_log: bool = False

    def share(self, value: float) -> float:
        """Where a value is: 0 at the beginning of the axis, 1 at its end."""
        if self.is_log:
            value = math.log10(value) if value > 0 else self.low
        # Quarters: the difference of two huge numbers may be infinite.
        span = self.high / 4 - self.low / 4
        return min(1.0, max(0.0, (value / 4 - self.low / 4) / span)) if span > 0 else 0.5

    def ticks(self, most: int) -> list[float]:
        """Round values on the axis."""
        if self.is_log:
            return _decades(self.low, self.high, most)
        step = _round_step((self.high / 4 - self.low / 4) * 4 / max(1, most))
        if not 0 < step < _HUGE:
            return [self.low, self.high]
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        found = [n * step for n in range(first, last + 1)][: 4 * most]
        return found if len(found) > 1 else [self.low, self.high]


def value_scale(low: float, high: float, role: str = "") -> Scale:
    """The axis for values between two ends; logarithmic where the range asks for it."""
    kind = role.rpartition("/")[2]
    if low > 0 and high / low > _LOG_RANGE and kind not in _LINEAR_ROLES:
        first, last = math.log10(low), math.log10(high)
        room = (last - first) * _ROOM
        return Scale(max(first - room, -300.0), min(last + room, 300.0), is_log=True)
    if high / 2 - low / 2 <= max(abs(low), abs(high)) * 1e-9:
        room = abs(low) * 0.1 or 1.0
        return Scale(low - room, high + room)
    room = (high / 4 - low / 4) * 4 * _ROOM
    room = room if math.isfinite(room) else 0.0
    return Scale(max(0.0, low - room) if low >= 0 else low - room, high + room)


def place_scale(low: float, high: float) -> Scale:
    """The axis for places."""
    return Scale(low, high) if high > low else Scale(low - 0.5, high + 0.5)


def _decades(low: float, high: float, most: int) -> list[float]:
    whole = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
    stride = max(1, math.ceil(len(whole) / max(1, most)))
    powers = [float(power) for power in whole if power % stride == 0]
    if len(powers) < 2:
        return [10.0**low, 10.0**high]
    return [10.0**power for power in powers]


def _round_step(raw: float) -> float:
    if not 0 < raw < _HUGE:
        return raw
    power = math.floor(math.log10(raw))
    if power < -300:
        return raw
    return next(f * 10.0**power for f in (1, 2, 5, 10) if f * 10.0**power >= raw * (1 - 1e-9))


def tick_label(value: float) -> str:
    """A tick in a few characters."""
    if value and (abs(value) < 1e-3 or abs(value) >= 1e5):
        shown = f"{value:.3g}"
        return shown.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    return numbers.value(float(f"{value:.6g}"))

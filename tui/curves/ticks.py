"""Where ticks go: round numbers, decades, and round times of the day."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from .numbers import clock, elapsed, is_moment, tick_labels

_TIME_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10_800, 21_600, 43_200),
    *(86_400, 2 * 86_400, 7 * 86_400, 28 * 86_400, 91 * 86_400, 364 * 86_400),
)
"""Seconds between ticks of a time axis."""
X_LABEL = 9
"""Widest label under the x axis."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place of an axis."""

    at: float
    label: str


def nice_step(raw: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is at least `raw`."""
    if not 0 < raw < 1e307:
        return raw if raw > 0 else 1.0
    power = math.floor(math.log10(raw))
    for factor in (1, 2, 5, 10):
        step = factor * 10.0**power if power > -300 else raw
        if step >= raw * (1 - 1e-9):
            return step
    return 10.0 ** (power + 1)


def multiples(low: float, high: float, step: float) -> list[float]:
    """The multiples of `step` from `low` to `high`."""
    first, last = low / step - 1e-6, high / step + 1e-6
    if not last >= first or abs(first) > 1e12 or last - first > 1000:
        return []
    return [k * step for k in range(math.ceil(first), math.floor(last) + 1)]


def value_ticks(
    low: float, high: float, most: int, width: int, least_step: float = 0.0
) -> list[Tick]:
    """At most about `most` round numbers between `low` and `high`."""
    ticks: list[Tick] = []
    for count in range(max(1, most) if high > low else 0, 0, -1):
        step = max(least_step, nice_step((high / 2 - low / 2) / count * 2))
        values = multiples(low, high, step) if step < math.inf else []
        labels = tick_labels(values, step, width)
        coarser = [Tick(v, label) for v, label in zip(values, labels, strict=True) if label]
        ticks = coarser if len(coarser) > len(ticks) else ticks
        if values and all(labels):
            # Fewer ticks whose labels tell them apart are better than many without.
            return coarser
    return ticks


def decade_ticks(low: float, high: float, most: int, width: int) -> list[Tick]:
    """Ticks of a logarithmic axis; `low`, `high` and the places are powers of ten."""
    stride = max(1, math.ceil((high - low) / max(1, most)))
    decades = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
    powers = [float(d) for d in decades if d % stride == 0]
    if len(powers) < 2 and high - low < 300:
        whole = range(math.floor(low), math.ceil(high) + 1)
        fine = [d + math.log10(m) for d in whole for m in (1, 2, 5)]
        powers = [p for p in fine if low - 1e-9 <= p <= high + 1e-9]
    if len(powers) < 2 and low > -300 and high < 300:
        return [
            Tick(math.log10(t.at), t.label)
            for t in value_ticks(10**low, 10**high, most, width)
            if t.at > 0
        ]
    return [Tick(p, _power_label(p)) for p in powers]


def _power_label(power: float) -> str:
    if -3 <= power < 4:
        return f"{10**power:.3g}".replace("e+03", "000")
    mantissa = round(10 ** (power - math.floor(power)))
    return f"{mantissa}e{math.floor(power)}"


def place_ticks(axis: str, low: float, high: float, most: int) -> list[Tick]:
    """Ticks of an x axis."""
    if not high > low:
        return []
    if axis != "time":
        # There is no step one and a half.
        return value_ticks(low, high, most, X_LABEL, 0.0 if axis == "epoch" else 1.0)
    wanted = (high - low) / max(1, most)
    step = next((s for s in _TIME_STEPS if s >= wanted), _TIME_STEPS[-1])
    if not is_moment(low):
        return [Tick(x, elapsed(x)) for x in multiples(low, high, step)]
    # Round in local time: a tick every six hours is at midnight, not at the offset of the zone.
    shift = time.localtime(low).tm_gmtoff
    moments = [x - shift for x in multiples(low + shift, high + shift, step)]
    return [Tick(x, clock(x, step)) for x in moments]

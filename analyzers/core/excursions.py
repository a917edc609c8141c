"""Excursions: stretches where a series leaves the range of the points before it, upwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mltd.runs.columns import GrowingColumn
from mltd.runs.harvest import Floats, Ints

WINDOW = 128
"""Points that a value is compared with."""
LEAST = 12
"""Points before which there is no range to leave."""
LEAVES = 6.0
RETURNS = 3.0
"""Robust deviations over the baseline at which an excursion begins, and ends."""
SETTLES = 200
"""Points after which a level that did not come back is the new level."""
_NORMAL = 1.2816
"""Deviations of a normal distribution between its median and its tenth part."""


@dataclass(slots=True)
class Excursion:
    """One stretch, by positions in the series; the baseline is that of the points before."""

    start: int
    baseline: float
    scale: float
    peak: float
    peak_at: int
    end: int | None = None
    """Position of the first point back in range; None if it has not come back."""
    points: int = 1
    """Points beyond the range."""
    bad: int = 0
    """Points that are not finite."""

    @property
    def rise(self) -> float:
        """How far over the baseline it went."""
        return self.peak - self.baseline

    @property
    def deviations(self) -> float:
        """The same in robust deviations."""
        return self.rise / self.scale if self.scale > 0 else np.inf


class ExcursionScan:
    """Finds excursions point by point; new points cost themselves alone."""

    def __init__(
        self, *, floor: float = 0.0, grain: Callable[[Floats], float] | None = None
    ) -> None:
        """`floor` is the least scale; `grain` finds a higher one in the digits printed so far."""
        self._floor = floor
        self._grain = grain
        self.found: list[Excursion] = []
        self._filled: GrowingColumn[np.float64] = GrowingColumn(np.float64)
        self._carry = 0.0
        self._current: Excursion | None = None
        self._calm = 0

    def __len__(self) -> int:
        """Count the points seen."""
        return len(self._filled)

    def extend(self, fresh: Floats) -> None:
        """Look at the next points."""
        if len(fresh) == 0:
            return
        first = len(self._filled)
        filled = _fill(fresh, self._carry)
        self._carry = float(filled[-1])
        self._filled.extend(filled)
        view = self._filled.view()
        position = max(first, LEAST)
        while position < len(view):
            stop = min(len(view), _next_edge(position))
            here = fresh[position - first : stop - first]
            with np.errstate(over="ignore", invalid="ignore"):
                baselines, scales = _ranges(view, position, stop)
                self._walk(here, position, baselines, np.maximum(scales, self._least(position)))
            position = stop

    def _least(self, position: int) -> float:
        """The least scale at a position, from the points before the last power of two."""
        if self._grain is None:
            return self._floor
        known = 1 << (position.bit_length() - 1)
        return max(self._floor, self._grain(self._filled.view()[max(0, known - 256) : known]) / 2)

    def _walk(self, y: Floats, first: int, baselines: Floats, scales: Floats) -> None:
        position = 0
        limits = baselines + LEAVES * scales
        while position < len(y):
            if self._current is not None:
                position = self._follow(y, position, first)
                continue
            beyond = y[position:] > limits[position:]
            if not beyond.any():
                return
            position += int(np.argmax(beyond))
            self._current = Excursion(
                first + position,
                float(baselines[position]),
                float(scales[position]),
                float(y[position]),
                first + position,
            )
            self.found.append(self._current)
            self._calm = 0
            position += 1

    def _follow(self, y: Floats, position: int, first: int) -> int:
        """Go along an excursion until it is back in range or has become the new level."""
        current = self._current
        assert current is not None
        while position < len(y):
            value = float(y[position])
            if not np.isfinite(value):
                current.bad += 1
                self._calm = 0
            elif value <= current.baseline + RETURNS * current.scale:
                self._calm += 1
                if self._calm >= 2:
                    current.end = first + position - 1
                    self._current = None
                    return position + 1
            else:
                self._calm = 0
                current.points += 1
                if value > current.peak:
                    current.peak, current.peak_at = value, first + position
            position += 1
            if first + position - current.start > SETTLES:
                self._current = None
                return position
        return position


def _next_edge(position: int) -> int:
    """Chunks whose edges depend on positions alone, so that all ways of growing agree."""
    return min(1 << position.bit_length(), (position // 65536 + 1) * 65536)


def _ranges(filled: Floats, start: int, stop: int) -> tuple[Floats, Floats]:
    """Baseline and scale at each position, from the window before its block."""
    baselines = np.empty(stop - start)
    scales = np.empty(stop - start)
    position = start
    while position < stop and position < 512:
        edge = position // 4 * 4
        block_stop = min(stop, edge + 4)
        window = filled[max(0, max(edge, LEAST) - WINDOW) : max(edge, LEAST)]
        level, scale = _window_ranges(window[None, :])
        baselines[position - start : block_stop - start] = level[0]
        scales[position - start : block_stop - start] = scale[0]
        position = block_stop
    if position < stop:
        edges: Ints = np.arange(position // 32, (stop - 1) // 32 + 1) * 32
        windows = np.lib.stride_tricks.sliding_window_view(filled, WINDOW)[edges - WINDOW]
        level, scale = _window_ranges(windows)
        which = np.arange(position, stop) // 32 - position // 32
        baselines[position - start :] = level[which]
        scales[position - start :] = scale[which]
    return baselines, scales


def _window_ranges(windows: Floats) -> tuple[Floats, Floats]:
    """Level of the newer half and spread around the window's own trend."""
    count = windows.shape[1]
    half = count // 2
    older = np.median(windows[:, :half], axis=1)
    newer = np.median(windows[:, half:], axis=1)
    slope = (newer - older) / half
    line = newer[:, None] + slope[:, None] * (np.arange(count) - (half + count - 1) / 2)[None, :]
    residual = windows - line
    low, middle, high = (max(0, count // 10), count // 2, count - 1 - count // 10)
    sorted_ = np.partition(residual, (low, middle, high), axis=1)
    upper = sorted_[:, high] - sorted_[:, middle]
    lower = sorted_[:, middle] - sorted_[:, low]
    scale = np.maximum(upper, lower) / _NORMAL
    if 24 <= count < WINDOW:
        # A short window holds the steep beginning, whose bend is no noise.
        scale = np.minimum(scale, 1.4 * _spread_of_newer(windows[:, half:]))
    # Rounding alone must not look like a rise over a constant.
    return newer, np.maximum(scale, 1e-9 * np.abs(newer))


def _spread_of_newer(windows: Floats) -> Floats:
    """Spread around its own trend of the newer half of a short window."""
    count = windows.shape[1]
    x = np.arange(count) - (count - 1) / 2
    level = windows.mean(axis=1, keepdims=True)
    slope = (windows * x).sum(axis=1, keepdims=True) / float(x @ x)
    residual = np.abs(windows - level - slope * x)
    near: Floats = np.partition(residual, count * 4 // 5, axis=1)[:, count * 4 // 5]
    return near / _NORMAL


def _fill(values: Floats, carry: float) -> Floats:
    """Each value that is not finite replaced by the last finite one."""
    finite = np.isfinite(values)
    if finite.all():
        return values
    last = np.maximum.accumulate(np.where(finite, np.arange(len(values)), -1))
    return np.where(last >= 0, values[np.maximum(last, 0)], carry)


def backdate(values: Floats, crossing: int, baseline: float, scale: float, earliest: int) -> int:
    """Where a rise really began that was noticed at a crossing, not before the earliest.

    The start that gives the largest sum of what is over the baseline and half a deviation:
    the crossing itself for a jump, the foot of the slope for a climb.
    """
    first = max(0, earliest, crossing - 64)
    over = values[first : crossing + 1] - (baseline + 0.5 * max(scale, 1e-12))
    over = np.where(np.isfinite(over), over, 0.0)
    sums = np.cumsum(over[::-1])[::-1]
    return first + int(np.argmax(sums)) if len(sums) else crossing

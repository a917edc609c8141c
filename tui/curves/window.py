"""Which stretch of the x axis is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .ticks import nice_step

Extent = tuple[float, float]

_PARTS = 25
"""The right end is moved out to a round 25th: a growing curve then fills the room column by
column, instead of squeezing everything a little at every new point."""
_DEEPEST = 1e-7
"""Smallest share of the whole axis that can be looked at."""


def rounded(extent: Extent) -> Extent:
    """The whole axis with room to grow."""
    low, high = extent
    if not high > low:
        room = max(abs(low) * 0.01, 0.5)
        return low - room, low + room
    step = nice_step((high - low) / _PARTS / 2)
    ends = math.floor(low / step + 1e-6) * step, math.ceil(high / step - 1e-6) * step
    return (min(low, ends[0]), max(high, ends[1])) if math.isfinite(sum(ends)) else extent


@dataclass(frozen=True, slots=True)
class Window:
    """The whole axis (`width` 0), or a part of it that may keep to the right end."""

    low: float = 0.0
    width: float = 0.0
    is_following: bool = False

    @property
    def is_whole(self) -> bool:
        """Is everything shown?"""
        return self.width <= 0

    def seen(self, extent: Extent) -> Extent:
        """The visible ends, given how far the data reach."""
        low, high = rounded(extent)
        if self.is_whole or self.width >= high - low:
            return low, high
        if self.is_following:
            step = nice_step(self.width / _PARTS / 2)
            high = max(extent[1], math.ceil(extent[1] / step - 1e-6) * step)
            return high - self.width, high
        return self.low, self.low + self.width

    def zoomed(self, extent: Extent, factor: float, centre: float | None = None) -> Window:
        """Look `factor` times closer, keeping `centre` where it is on screen."""
        low, high = self.seen(extent)
        whole = rounded(extent)
        width = max((high - low) / factor, (whole[1] - whole[0]) * _DEEPEST)
        if width >= (whole[1] - whole[0]) * 0.999:
            return Window()
        if centre is None:
            # Without a cursor the newest points matter most, if they are in sight.
            centre = high if high >= extent[1] else (low + high) / 2
        share = min(1.0, max(0.0, (centre - low) / (high - low)))
        return _placed(centre - share * width, width, extent)

    def panned(self, extent: Extent, share: float) -> Window:
        """Move by a share of what is visible; the whole axis has nowhere to go."""
        low, high = self.seen(extent)
        if self.is_whole:
            return self
        return _placed(low + share * (high - low), high - low, extent)

    def reaching(self, extent: Extent, x: float) -> Window:
        """The same width, moved so that `x` is in sight."""
        low, high = self.seen(extent)
        if self.is_whole or low <= x <= high:
            return self
        return _placed(x - (high - low) / 2, high - low, extent)


def _placed(low: float, width: float, extent: Extent) -> Window:
    whole = rounded(extent)
    low = min(max(low, whole[0]), max(whole[0], whole[1] - width))
    return Window(low, width, is_following=low + width >= extent[1])

"""Series as they are drawn and compared: chosen like the analyzers do, without their curves.

Analyzers keep a curve for every series, which costs a copy of its points. Whoever needs a series
only now and then looks at it here, and pays for one pass over it.
"""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.series import Series

from .curve import Curve
from .view import RunView

_FEW, _MOST_DROPPED = 2, 0.5
"""Where a counter falls more often, and half of the points would go, several writers share it."""


class Glance(RunView):
    """A view whose curves are empty: good for finding series, and for nothing else."""

    def curve_of(self, series: Series) -> Curve:
        """A curve that knows its series and none of its points."""
        return Curve(series)

    def primary(self, role: str) -> Series | None:
        """The series that stands for a role."""
        curve = self.curve(role)
        return None if curve is None else curve.series


def points_of(series: Series, axis: str) -> tuple[Floats, Floats]:
    """Places and values, left to right: what a resumed run wrote again counts as it is now."""
    x, y = series.axis(axis), series.values
    if axis == "index":
        return x, y
    known = np.isfinite(x)
    if not known.all():
        x, y = x[known], y[known]
    falls = np.flatnonzero(x[1:] < x[:-1]) + 1
    if not len(falls):
        return x, y
    # Where the counter falls to, from there on all that came before is written again.
    resumed = np.full(len(x) + 1, np.inf)
    resumed[falls] = x[falls]
    is_kept = x < np.minimum.accumulate(resumed[::-1])[::-1][1:]
    if len(falls) <= _FEW or is_kept.mean() >= _MOST_DROPPED:
        return x[is_kept], y[is_kept]
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def has_axis(series: Series, axis: str) -> bool:
    """True if at least one point has a place on an axis."""
    return axis == "index" or bool(np.isfinite(series.axis(axis)).any())

"""Where two runs part for good.

Runs of one seed are the very same up to there. Others differ by noise from the beginning: they
part where the difference leaves that noise and does not change its sign again up to the end.
"""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats

from .windows import Side

_PREFIX = 3
"""Equal points at the beginning that are no accident."""
_ROUNDING = 1e-6
_MOSTLY = 0.5
"""Share of the points behind the first different one that must differ, too."""
_MOST_BINS, _FEWEST_BINS = 64, 6
_SMOOTH = 3
_CLEAR, _ONSET = 3.0, 1.0
"""Spreads of the smoothed difference: what is no noise, and where it began."""


def parting(before: Side, after: Side, *, is_shown: bool) -> float | None:
    """A place on the axis; None if they never part. `is_shown`: they do differ at the end."""
    (xa, ya), (xb, yb) = before.shared, after.shared
    count = min(len(xa), len(xb))
    if count >= _PREFIX and np.array_equal(xa[:count], xb[:count]):
        differs = _differs(ya[:count], yb[:count])
        first = int(np.argmax(differs)) if differs.any() else count
        if first >= _PREFIX:
            is_lasting = first < count and differs[first:].mean() >= _MOSTLY
            return float(xa[first]) if is_lasting else None
    found = [_lost_alone(before, after)]
    if is_shown:
        found.append(_by_level(xa, ya, xb, yb))
    return min((place for place in found if place is not None), default=None)


def _differs(first: Floats, second: Floats) -> np.ndarray:
    is_same = np.isclose(first, second, rtol=_ROUNDING, atol=0.0, equal_nan=True)
    return ~is_same


def _lost_alone(before: Side, after: Side) -> float | None:
    """Where one of them stopped being finite for good and the other did not."""
    ends = [_end_of_numbers(*side.shared) for side in (before, after)]
    lost = [place for place in ends if place is not None]
    return lost[0] if len(lost) == 1 else None


def _end_of_numbers(x: Floats, y: Floats) -> float | None:
    finite = np.flatnonzero(np.isfinite(y))
    after = int(finite[-1]) + 1 if len(finite) else 0
    return float(x[after]) if len(x) - after >= _PREFIX else None


def _by_level(xa: Floats, ya: Floats, xb: Floats, yb: Floats) -> float | None:
    bins = min(_MOST_BINS, len(xa) // 2, len(xb) // 2)
    if bins < _FEWEST_BINS:
        return None
    edges = np.linspace(max(xa[0], xb[0]), min(xa[-1], xb[-1]), bins + 1)
    first, second = _binned(xa, ya, edges), _binned(xb, yb, edges)
    if first is None or second is None:
        return None
    difference = second - first
    jumps = np.diff(difference)
    spread = 1.4826 * float(np.median(np.abs(jumps - np.median(jumps)))) / np.sqrt(2 * _SMOOTH)
    padded = np.pad(difference, _SMOOTH // 2, mode="edge")
    smooth = np.convolve(padded, np.full(_SMOOTH, 1 / _SMOOTH), mode="valid")
    away = smooth * np.sign(np.median(difference[-max(_SMOOTH, bins // 8) :]))
    together = np.flatnonzero(away <= 0)
    last = int(together[-1]) if len(together) else -1
    clear = np.flatnonzero(away[last + 1 :] > _CLEAR * spread)
    if not len(clear):
        return None
    at = last + 1 + int(clear[0])
    while at > last + 1 and away[at - 1] > _ONSET * spread:
        at -= 1
    # A place where there is a point, not an edge between two of them.
    point = min(int(np.searchsorted(xb, edges[at])), len(xb) - 1)
    return float(xb[point]) if bins - at >= _SMOOTH else None


def _binned(x: Floats, y: Floats, edges: Floats) -> Floats | None:
    """Means of the finite values between edges; what has no point lies between its neighbours."""
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    bins = len(edges) - 1
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    if np.count_nonzero(count) < _FEWEST_BINS:
        return None
    scale = float(np.abs(y).max()) or 1.0
    known = count > 0
    means = np.bincount(place, weights=y / scale, minlength=bins)[known] / count[known]
    return np.interp(np.arange(bins), np.flatnonzero(known), means) * scale

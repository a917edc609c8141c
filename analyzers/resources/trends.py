"""Small statistics that the resource rules share; all bounded, none minds odd values."""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats

from ..core.curve import Curve

HUGE = 1e150
"""Numbers beyond this are no measurements, and their squares no numbers."""
MOST = 1024
"""Points on which trends are judged."""


def thinned(curve: Curve) -> tuple[Floats, Floats]:
    """Steps and finite values of a curve, at most about a thousand of each."""
    first, _, mean, _, _, counts = curve.bins
    good = (counts > 0) & (np.abs(mean) < HUGE) & (np.abs(first) < HUGE)
    x, y = first[good], mean[good]
    if len(y) <= 2 * MOST:
        return x, y
    width = len(y) // MOST
    kept = len(y) // width * width
    blocks = y[:kept].reshape(-1, width)
    return x[:kept:width], np.asarray(np.median(blocks, axis=1))


def ranks(values: Floats) -> Floats:
    """Ranks, equal values sharing theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2.0)[inverse], dtype=np.float64)


def rank_correlation(values: Floats) -> float:
    """Spearman's correlation of values with their order; 0 where nothing changes."""
    if len(values) < 3:
        return 0.0
    mine, order = ranks(values), np.arange(len(values), dtype=np.float64)
    mine, order = mine - mine.mean(), order - order.mean()
    scale = float(np.sqrt((mine**2).sum() * (order**2).sum()))
    return float((mine * order).sum() / scale) if scale > 0 else 0.0


def spread(values: Floats) -> float:
    """Robust standard deviation."""
    if len(values) < 2:
        return 0.0
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))


def hinge(values: Floats) -> int:
    """Position from which values rise or fall evenly after having been level."""
    count = len(values)
    if count < 8:
        return 0
    order = np.arange(count, dtype=np.float64)
    candidates = np.unique(np.linspace(0, 0.9 * count, 64).astype(np.int64))
    y = values - values.mean()
    ramps = np.maximum(0.0, order[None, :] - candidates[:, None])
    ramps = ramps - ramps.mean(axis=1, keepdims=True)
    power = (ramps**2).sum(axis=1)
    explained = np.where(power > 0, (ramps @ y) ** 2 / np.where(power > 0, power, 1.0), 0.0)
    best = int(np.argmax(explained))
    # A start from the first point on needs no better reason than being almost as good.
    if explained[0] >= 0.995 * explained[best]:
        return 0
    return int(candidates[best])


def floor_filtered(values: Floats, width: int) -> Floats:
    """Each value replaced by a low one of its neighbourhood: pauses vanish, levels stay."""
    if len(values) < 3 or width < 3:
        return values
    half = width // 2
    padded = np.concatenate([np.repeat(values[0], half), values, np.repeat(values[-1], half)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    low = (2 * half + 1) * 3 // 10
    return np.asarray(np.partition(windows, low, axis=1)[:, low])


def level_edges(values: Floats, least: int, depth: int = 3) -> list[int]:
    """Positions where the level of a series changes, with 0 and its length as outer edges."""
    return [0, *_split(values, 0, least, depth), len(values)]


def _split(values: Floats, offset: int, least: int, depth: int) -> list[int]:
    count = len(values)
    if depth == 0 or count < 2 * least:
        return []
    sums = np.cumsum(values - values.mean())[:-1]
    left = np.arange(1, count, dtype=np.float64)
    contrast = np.abs(sums) / np.sqrt(left * (count - left) / count)
    contrast[: least - 1] = contrast[count - least :] = 0.0
    at = int(np.argmax(contrast)) + 1
    before, after = values[:at], values[at:]
    step = abs(float(np.median(after) - np.median(before)))
    if step <= max(0.02, 1.5 * spread(before), 1.5 * spread(after)):
        return []
    return [
        *_split(before, offset, least, depth - 1),
        offset + at,
        *_split(after, offset + at, least, depth - 1),
    ]

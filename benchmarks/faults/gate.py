"""Did the fault leave a trace? Compares a faulty run with its clean twin and with healthy seeds.

Every logged signal is cut into eight equal parts; each part gives its median and its maximum,
in logarithms where the signal is positive. A difference of two runs in one such feature is
divided by the feature's standard deviation over five healthy seeds (at least 2 % of its size);
the distance of two runs is the largest of these. A fault has an effect if the distance to its
clean twin exceeds the mean distance of all pairs of healthy seeds by three of their standard
deviations. A part that is not finite where the twin's is counts as an effect at once.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from .trace import Trace
from .voice import Voice

PARTS = 8
Features = dict[str, NDArray[np.float64]]


def features(trace: Trace, voice: Voice) -> Features:
    """The features of every signal that the voice logs."""
    names: dict[tuple[str, str], None] = {}
    for entry in trace.entries:
        if entry.kind in ("train", "eval"):
            names.update({(entry.kind, name): None for name in entry.values if voice.hears(name)})
    return {name: _summary(trace.series(name, kind), trace.steps) for kind, name in names}


def _summary(series: list[float], steps: int) -> NDArray[np.float64]:
    values = np.asarray(series, dtype=float)
    parts = np.array_split(values, PARTS)
    with np.errstate(all="ignore"):
        raw = np.array([[np.median(part), np.max(part)] for part in parts if len(part)]).ravel()
        return np.log(raw) if np.all(values[np.isfinite(values)] > 0) else raw


def distance(one: Features, other: Features, spread: dict[str, NDArray[np.float64]]) -> float:
    """How many healthy deviations lie between two runs, at their most different feature."""
    largest = 0.0
    for name, scale in spread.items():
        a, b = one.get(name), other.get(name)
        if a is None or b is None or a.shape != b.shape or a.shape != scale.shape:
            return math.inf
        if (np.isfinite(a) != np.isfinite(b)).any():
            return math.inf
        with np.errstate(all="ignore"):
            gap = np.abs(a - b) / scale
        gap = gap[np.isfinite(gap)]
        largest = max(largest, float(gap.max(initial=0.0)))
    return largest


def spread_of(seeds: list[Features]) -> dict[str, NDArray[np.float64]]:
    """Standard deviation of every feature over the healthy seeds, with a floor."""
    spread: dict[str, NDArray[np.float64]] = {}
    for name in seeds[0]:
        table = [
            one[name] for one in seeds if name in one and one[name].shape == seeds[0][name].shape
        ]
        stacked = np.stack(table)
        spread[name] = np.maximum(
            stacked.std(0, ddof=1), 0.02 * np.maximum(1.0, np.abs(stacked).mean(0))
        )
    return spread


def has_effect(
    faulty: Trace, clean: Trace, healthy: list[Trace], voice: Voice
) -> tuple[bool, float, float]:
    """Whether the logged signals differ, the distance, and the bar it had to pass."""
    seeds = [features(one, voice) for one in healthy]
    spread = spread_of(seeds)
    pairs = [distance(a, b, spread) for a, b in itertools.combinations(seeds, 2)]
    bar = float(np.mean(pairs) + 3 * np.std(pairs, ddof=1))
    seen, twin = features(faulty, voice), features(clean, voice)
    if set(seen) - set(twin):
        return True, math.inf, bar
    found = distance(seen, twin, {name: scale for name, scale in spread.items() if name in twin})
    return found > bar, found, bar

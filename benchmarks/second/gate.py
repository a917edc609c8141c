"""Did the fault leave a trace? Compares a run with its clean twin and with other healthy seeds.

Every logged signal is cut into thirds; each gives its mean and its maximum, in logarithms where
the signal is positive, and a value that is not finite counts as a large difference. The effect is
the largest distance to the clean twin, in standard deviations over the twin and two more healthy
seeds (with a floor).
"""

from __future__ import annotations

import math

import numpy as np

from .job import Row
from .styles.sheet import signal_of

BAR = 3.0
NOT_FINITE = 20.0
CHOSEN = frozenset(
    {
        "learning_rate",
        "exploration_rate",
        "iterations",
        "n_updates",
        "episodes",
        "seq_len",
    }
)
"""Settings and counters, not effects."""


def effect(
    faulty: list[Row], healthy: list[list[Row]], signals: frozenset[str], with_rate: bool
) -> float:
    """The largest distance to the first of the healthy runs, in deviations of them all."""
    seen = features(faulty, signals, with_rate)
    others = [features(rows, signals, with_rate) for rows in healthy]
    largest = 0.0
    for name in seen.keys() & others[0].keys():
        usual = [one[name] for one in others if name in one]
        floor = 0.02 + 0.001 * abs(usual[0])
        distance = abs(seen[name] - usual[0]) / (float(np.std(usual, ddof=1)) + floor)
        if math.isfinite(distance):
            largest = max(largest, distance)
    return round(largest, 2)


def features(rows: list[Row], signals: frozenset[str], with_rate: bool) -> dict[str, float]:
    """Levels and maxima of every logged signal."""
    table: dict[str, list[float]] = {}
    for row in rows:
        if row.kind in ("train", "val", "policy"):
            for name, value in row.values.items():
                if _counts(name, signals, with_rate):
                    table.setdefault(name, []).append(float(value))
    return {
        f"{name}:{part}": value
        for name, values in table.items()
        for part, value in _summary(values).items()
    }


def _counts(name: str, signals: frozenset[str], with_rate: bool) -> bool:
    if name == "lr":
        return with_rate
    signal = signal_of(name)
    return name not in CHOSEN and (signal is None or signal in signals)


def _summary(values: list[float]) -> dict[str, float]:
    series = np.array(values)
    is_bad = ~np.isfinite(series)
    largest = float(np.max(series[~is_bad], initial=0.0))
    series = np.where(is_bad, largest, series)
    if (series > 0).all():
        series = np.log(np.maximum(series, 1e-12))
    summary = {"finite": NOT_FINITE * bool(is_bad.any())}
    for place, part in enumerate(np.array_split(series, 3)):
        if len(part):
            summary[f"level{place}"] = float(part.mean())
            summary[f"peak{place}"] = float(part.max())
    return summary

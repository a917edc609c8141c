"""Statistics of a handful of results: mean, spread, how sure both are, and outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mltd.runs.harvest import Floats

RESAMPLES = 2000
OUTLIER = 3.5
"""Robust deviations, after Iglewicz and Hoaglin."""
LARGE = 0.1
"""Share of what the training achieved from which a difference matters in practice."""
LEAST_FOR_OUTLIERS = 5
LEAST_FOR_FAILURES = 3
FAILED, AGREED = 0.5, 0.15
"""Shares of what the training achieves: too few for statistics, a run that misses half of it while
the others agree needs none."""
_NORMAL = 1.4826


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % bootstrap interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Results of repetitions, summarised."""

    count: int
    mean: float
    deviation: float
    mean_interval: Interval
    deviation_interval: Interval


def summarise(values: Floats) -> Spread:
    """Mean and standard deviation with bootstrap intervals; the same each time it is asked."""
    generator = np.random.default_rng(20_240_229)
    picks = generator.integers(0, len(values), (RESAMPLES, len(values)))
    drawn = values[picks]
    with np.errstate(over="ignore", invalid="ignore"):
        means = drawn.mean(axis=1)
        deviations = drawn.std(axis=1, ddof=1) if len(values) > 1 else np.zeros(RESAMPLES)
        deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        return Spread(
            len(values),
            float(values.mean()),
            deviation,
            _interval(means),
            _interval(deviations),
        )


def _interval(drawn: Floats) -> Interval:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Interval(float(low), float(high))


def outliers(values: Floats, effect: float) -> npt.NDArray[np.bool_]:
    """Which results stand apart from the others, statistically and in practice."""
    if LEAST_FOR_FAILURES <= len(values) < LEAST_FOR_OUTLIERS:
        return _failures(values, effect)
    if len(values) < LEAST_FOR_OUTLIERS:
        return np.zeros(len(values), dtype=bool)
    known = np.isfinite(values)
    if known.sum() < LEAST_FOR_OUTLIERS - 1:
        return np.zeros(len(values), dtype=bool)
    middle = float(np.median(values[known]))
    away = np.abs(np.where(known, values, np.inf) - middle)
    scale = _NORMAL * float(np.median(away[known]))
    # Repetitions that agree to the last digit would make any difference infinite.
    scale = max(scale, 1e-3 * effect)
    return (away > OUTLIER * scale) & (away > LARGE * effect)


def _failures(values: Floats, effect: float) -> npt.NDArray[np.bool_]:
    """The one of three or four results that is far from all others, which agree."""
    apart = np.zeros(len(values), dtype=bool)
    if not np.isfinite(values).all():
        return apart
    away = np.abs(values - np.median(values))
    one = int(np.argmax(away))
    others = np.delete(values, one)
    distance = float(np.min(np.abs(others - values[one])))
    apart[one] = distance > FAILED * effect and float(np.ptp(others)) < AGREED * effect
    return apart

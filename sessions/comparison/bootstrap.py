"""A 95 % interval for levels whose points depend on each other: circular block bootstrap.

Neighbouring points of a curve are alike (the same weights, running means, slow schedules), so that
drawing single points again would promise far too much. Blocks of neighbours are drawn instead, as
long as the noise remembers: by the length that Politis and White (2004) give for the dependence
that is seen from one point to the next, which is first corrected for its known bias in short
stretches. Blocks still cut dependence at their ends, and few blocks know little about their own
spread; three factors make up for that, without which short windows cover the truth in half of the
cases: what a block of that length misses, what the line took that was removed from the noise, and
Student's quantile for so many blocks.

Where both runs have points at the same places, the same blocks are drawn from both: what the
batches have in common cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mltd.runs.harvest import Floats

from .levels import Level

RESAMPLES = 1500
_MOST_POINTS = 256
"""Means of neighbours stand for longer windows: they are as dependent, and as good."""
_SEED = 20_040
_NORMAL = 1.959964
_LONGEST_MEMORY = 0.97
_FEW, _ASSUMED_MEMORY = 8, 0.5
"""So few points do not tell what they remember."""
_LINE = 2
"""Numbers that were fitted before: height and slope."""


class Blocks(NamedTuple):
    """How noise is drawn again."""

    length: int
    factor: float
    """By which deviations of the drawn means are too small."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """Levels of both runs as they might have come out."""

    before: Floats
    after: Floats


def resample(before: Level, after: Level) -> Resampled:
    """Draw both levels again, many times; the same numbers each time."""
    random = np.random.default_rng(_SEED)
    if np.array_equal(before.place, after.place):
        first, second = _shortened(before.noise), _shortened(after.noise)
        ratio = after.value / before.value if before.value else 1.0
        joint = second - ratio * first if np.isfinite(ratio) else second - first
        blocks = plan(joint if joint.any() else second, first, second)
        starts = _starts(random, len(first), blocks)
        drawn = [_means(noise, blocks, starts) for noise in (first, second)]
        return Resampled(before.value + drawn[0], after.value + drawn[1])
    return Resampled(resample_one(before, random), resample_one(after, random))


def resample_one(level: Level, random: np.random.Generator | None = None) -> Floats:
    """Draw the level of one run again."""
    noise = _shortened(level.noise)
    blocks = plan(noise)
    random = random or np.random.default_rng(_SEED)
    means: Floats = level.value + _means(noise, blocks, _starts(random, len(noise), blocks))
    return means


def plan(noise: Floats, *parts: Floats) -> Blocks:
    """How long blocks must be, and what they miss even so; `parts` are what the noise is made of.

    In a short stretch the difference of two runs looks less dependent than it is more often than
    both runs do.
    """
    count = len(noise)
    memory = _memory(noise)
    if parts:
        memory = max(memory, sum(map(_memory, parts)) / len(parts))
    length = 1
    if memory > 0:
        wanted = (6 * memory**2 / (1 - memory**2) ** 2) ** (1 / 3) * count ** (1 / 3)
        length = max(1, min(int(np.ceil(wanted)), count // 3))
    missed = 2 * memory * (1 - memory**length) / (length * (1 - memory**2))
    taken = min(0.8, _LINE * length / count)
    student = _student(count / length - _LINE) / _NORMAL
    return Blocks(length, student / float(np.sqrt((1 - missed) * (1 - taken))))


def _memory(noise: Floats) -> float:
    """Correlation of neighbours, 0 or more; short stretches show less of it than there is."""
    count = len(noise)
    square = float(noise @ noise)
    if square <= 0:
        return 0.0
    seen = float(noise[1:] @ noise[:-1]) / square
    if count < _FEW:
        return min(max(seen, _ASSUMED_MEMORY), _LONGEST_MEMORY)
    return min(max((count * seen + _LINE) / (count - 4), 0.0), _LONGEST_MEMORY)


def _student(freedom: float) -> float:
    """97.5 % quantile of Student's distribution, to within a few per cent."""
    v, z = max(freedom, 1.5), _NORMAL
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def _shortened(noise: Floats) -> Floats:
    if len(noise) <= _MOST_POINTS:
        return noise
    edges = np.linspace(0, len(noise), _MOST_POINTS + 1).astype(np.int64)
    means = np.add.reduceat(noise, edges[:-1]) / np.diff(edges)
    centred: Floats = means - means.mean()
    return centred


def _starts(random: np.random.Generator, count: int, blocks: Blocks) -> np.ndarray:
    return random.integers(0, count, (RESAMPLES, -(-count // blocks.length)))


def _means(noise: Floats, blocks: Blocks, starts: np.ndarray) -> Floats:
    """Deviations of the mean: sums of whole blocks, the last one cut to the length of all."""
    count, length = len(noise), blocks.length
    total = np.concatenate(([0.0], np.cumsum(np.concatenate((noise, noise[:length])))))
    whole = total[length : length + count] - total[:count]
    rest = count - (starts.shape[1] - 1) * length
    cut = total[rest : rest + count] - total[:count]
    sums = whole[starts[:, :-1]].sum(axis=1) + cut[starts[:, -1]]
    means: Floats = blocks.factor * sums / count
    return means

"""The expert's eye: whether a fault that differs from its clean twin can be called wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .job import Row, series


def reward_is_lost(rows: list[Row], twin: list[Row]) -> bool:
    """The policy ends with less than half of what the clean one gains, or of its own best."""
    own, clean = series(rows, "ep_rew_mean"), series(twin, "ep_rew_mean")
    start, reached, now = _level(clean[:5]), _level(clean[-5:]), _level(own[-5:])
    best = max(_level(own[place : place + 5]) for place in range(max(1, len(own) - 4)))
    return now < start + 0.5 * (reached - start) or now < start + 0.5 * (best - start)


def validation_turns(rows: list[Row], twin: list[Row]) -> bool:
    """The held-out loss ends at least a twentieth above its best."""
    held = series(rows, "val_loss")
    late = _level(held[-max(2, len(held) // 5) :])
    return not late < 1.05 * min(held)


def loss_climbs(rows: list[Row], twin: list[Row]) -> bool:
    """The last tenth of the loss lies at least a fifth above the best tenth."""
    parts = [_level(part.tolist()) for part in np.array_split(series(rows, "loss"), 10)]
    return not parts[-1] < 1.2 * min(part for part in parts if math.isfinite(part))


def embeddings_shrink(rows: list[Row], twin: list[Row]) -> bool:
    """They end within a fifth of the clean run's spread."""
    return not _level(series(rows, "emb_std")[-5:]) > 0.2 * _level(series(twin, "emb_std")[-5:])


def loss_jumps(rows: list[Row], onset: int) -> bool:
    """Within the next points the loss leaves the range that it had before the onset."""
    train = [row for row in rows if row.kind == "train"]
    before = [row.values["loss"] for row in train if row.step < onset][-20:]
    after = [row.values["loss"] for row in train if row.step >= onset][:5]
    middle = _level(before)
    deviation = 1.4826 * _level([abs(value - middle) for value in before])
    return not _level(after) < max(*before, middle + 3 * deviation)


def _level(values: Sequence[float]) -> float:
    return float(np.median(values))

"""Loops that count `n/total`: which of them are the training's, and what they count.

A bar of an evaluation is drawn while that of the training waits, or between two of its epochs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .harvest import Floats

_MOST_RUNS = 3
"""Other loops in a row after which the one they seemed to interrupt was not the training's."""


class Loops:
    """The loop of the training, followed from one record to the next."""

    __slots__ = ("_epoch", "_interrupts", "_n", "_total", "counts_run")

    def __init__(self) -> None:
        self._n = self._total = self._epoch = np.nan
        self._interrupts = 0
        self.counts_run = False
        """The count went on where an epoch ended: it is of the whole training."""

    def are_training(self, n: Floats, total: Floats, epoch: Floats) -> npt.NDArray[np.bool_]:
        """Which records count a loop of the training; those that count nothing do not matter."""
        is_training = np.ones(len(n), dtype=bool)
        counting = np.flatnonzero(np.isfinite(n) & np.isfinite(total))
        if len(counting) == 0:
            return is_training
        # Most logs have one total, or one for each epoch: stretches are few.
        borders = np.flatnonzero(np.diff(total[counting])) + 1
        for stretch in np.split(counting, borders):
            if self._is_training(float(total[stretch[0]]), float(epoch[stretch[0]]), n[stretch]):
                self._follow(n[stretch], float(total[stretch[0]]), epoch[stretch])
            else:
                is_training[stretch] = False
        return is_training

    def _is_training(self, total: float, epoch: float, n: Floats) -> bool:
        if np.isnan(self._total) or total == self._total:
            return True
        if np.isfinite(epoch) and np.isfinite(self._epoch) and epoch != self._epoch:
            return True
        is_waiting = self._n < self._total
        is_side_loop = epoch == self._epoch and total < self._total
        if not (is_waiting or is_side_loop):
            return True
        self._interrupts += 1 + int(np.count_nonzero(n[1:] < n[:-1]))
        return self._interrupts > _MOST_RUNS

    def _follow(self, n: Floats, total: float, epoch: Floats) -> None:
        self._interrupts = 0
        is_known = total == self._total
        counted = np.concatenate([[self._n if is_known else np.nan], n])
        epochs = np.concatenate([[self._epoch if is_known else np.nan], epoch])
        rises = np.flatnonzero(epochs[1:] > epochs[:-1])
        if len(rises):
            self.counts_run = bool(np.all(counted[rises + 1] > counted[rises]))
        self._n, self._total, self._epoch = float(n[-1]), total, float(epoch[-1])

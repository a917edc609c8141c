"""Bins: a series in at most a few thousand numbers, however long it gets."""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats, Ints

CAPACITY = 2048
"""Bins kept; up to as many points each point is its own bin."""


class Bins:
    """Means, extremes and counts of equally many points each.

    New points cost themselves alone: bins are closed once and merged in pairs when there are
    twice as many as wanted.
    """

    def __init__(self) -> None:
        self.width = 1
        """Points per bin."""
        self._table = np.empty((0, 6))
        self._open: list[Floats] = []
        self._open_count = 0
        self._arrays: tuple[Floats, Floats, Floats, Floats, Floats, Ints] | None = None
        """What was asked for last; many ask between two new points."""

    def add(self, x: Floats, y: Floats) -> None:
        """Take in the next points."""
        if len(y) == 0:
            return
        self._arrays = None
        self._open.append(np.stack([x, y], axis=1))
        self._open_count += len(y)
        if self._open_count < self.width:
            return
        points = np.concatenate(self._open)
        while len(points) >= self.width:
            if len(self._table) == 0:
                # The same as merging later, in one go.
                while len(points) // self.width >= 2 * CAPACITY:
                    self.width *= 2
            wanted = min(len(points) // self.width, 2 * CAPACITY - len(self._table)) * self.width
            self._table = np.concatenate([self._table, _summarise(points[:wanted], self.width)])
            points = points[wanted:]
            if len(self._table) == 2 * CAPACITY:
                self._merge()
        self._open, self._open_count = ([points] if len(points) else []), len(points)

    def _merge(self) -> None:
        first, second = self._table[::2], self._table[1::2]
        counts = first[:, 5] + second[:, 5]
        merged = np.empty((CAPACITY, 6))
        merged[:, 0] = first[:, 0]
        merged[:, 1] = second[:, 1]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            total = np.where(first[:, 5] > 0, first[:, 2], 0.0) * first[:, 5]
            total = total + np.where(second[:, 5] > 0, second[:, 2], 0.0) * second[:, 5]
            merged[:, 2] = total / counts
        merged[:, 3] = np.fmin(first[:, 3], second[:, 3])
        merged[:, 4] = np.fmax(first[:, 4], second[:, 4])
        merged[:, 5] = counts
        self._table = merged
        self.width *= 2

    def _rows(self) -> Floats:
        if not self._open_count:
            return self._table
        points = np.concatenate(self._open)
        return np.concatenate([self._table, _summarise(points, len(points))])

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats, Floats, Floats, Ints]:
        """First x, last x, mean, low, high of the finite values, and how many are finite."""
        if self._arrays is None:
            first, last, mean, low, high, counts = self._rows().T
            self._arrays = first, last, mean, low, high, counts.astype(np.int64)
            for array in self._arrays:
                array.flags.writeable = False  # all who ask share them
        return self._arrays


def _summarise(points: Floats, width: int) -> Floats:
    x = points[:, 0].reshape(-1, width)
    y = points[:, 1].reshape(-1, width)
    finite = np.isfinite(y)
    counts = finite.sum(axis=1)
    rows = np.empty((len(y), 6))
    rows[:, 0], rows[:, 1] = x[:, 0], x[:, -1]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rows[:, 2] = np.where(finite, y, 0.0).sum(axis=1) / counts
    rows[:, 3] = np.where(finite, y, np.inf).min(axis=1)
    rows[:, 4] = np.where(finite, y, -np.inf).max(axis=1)
    rows[:, 3][counts == 0] = np.nan
    rows[:, 4][counts == 0] = np.nan
    rows[:, 5] = counts
    return rows

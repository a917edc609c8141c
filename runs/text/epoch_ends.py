"""Loops behind the end of an epoch: what Keras' `evaluate` draws is no step of the training.

    Epoch 8/8
    375/375 [==============] - 1s 3ms/step - loss: 0.07 - val_loss: 0.10
    313/313 [==============] - 0s 1ms/step - loss: 0.11

Where epochs are announced on lines of their own, each has one loop that trains. A second one
below the same announcement, over another number of batches or without the validation that the
first one had, was run on other data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..harvest import Floats, Ints

Mask = npt.NDArray[np.bool_]


class Loop(NamedTuple):
    """Lines that say how far a loop is, not the epoch; each with its place and line."""

    places: Ints
    lines: Ints
    inner: Floats
    total: Floats
    has_validation: bool
    """They have a validation beside what is trained."""


class _End(NamedTuple):
    """How the loop that closed an epoch ended."""

    total: float
    has_validation: bool


@dataclass(slots=True)
class EpochEnds:
    """Follows the epochs of one log from chunk to chunk."""

    _is_announced: bool = False
    """Epochs stand on lines of their own."""
    _end: _End | None = None
    """The end of the epoch that was announced last, if it has ended."""

    def evaluations(self, announced: Ints, loops: Sequence[Loop]) -> tuple[Ints, bool]:
        """Places of lines that are behind the end of their epoch, and if it was validated."""
        self._is_announced |= bool(len(announced))
        if not self._is_announced or not loops:
            if len(announced):
                self._end = None
            return np.empty(0, dtype=np.int64), False
        rows = _in_order(loops)
        before = _latest(announced, rows.places)
        is_end = rows.inner >= rows.total
        # The first full count behind an announcement ends its epoch.
        ends = np.concatenate([[-1], np.where(is_end, rows.places, -1)])
        is_first = is_end & (np.maximum.accumulate(ends)[:-1] < before)
        if self._end is None and not len(announced):
            is_first[np.flatnonzero(is_end)[:1]] = True
        closing = np.maximum.accumulate(np.where(is_first, np.arange(len(is_end)), -1))
        is_behind = (closing >= 0) & (rows.places[closing] > before)
        total, validated = rows.total[closing], rows.has_validation[closing]
        line = rows.lines[closing]
        if self._end is not None:
            is_early = (closing < 0) & (before < 0)
            is_behind |= is_early
            total = np.where(is_early, self._end.total, total)
            validated = np.where(is_early, self._end.has_validation, validated)
            line = np.where(is_early, -1, line)
        is_other = (rows.total != total) | (validated & ~rows.has_validation)
        found = is_behind & is_other & (rows.lines != line)
        self._note_end(announced, rows, is_first)
        return rows.places[found], bool(validated[found].any())

    def _note_end(self, announced: Ints, rows: _Rows, is_first: Mask) -> None:
        last = np.flatnonzero(is_first)
        if len(last) and (not len(announced) or rows.places[last[-1]] > announced[-1]):
            place = int(last[-1])
            self._end = _End(float(rows.total[place]), bool(rows.has_validation[place]))
        elif len(announced):
            self._end = None


class _Rows(NamedTuple):
    places: Ints
    lines: Ints
    inner: Floats
    total: Floats
    has_validation: Mask


def _in_order(loops: Sequence[Loop]) -> _Rows:
    places = np.concatenate([loop.places for loop in loops])
    order = np.argsort(places, kind="stable")
    validated = [np.full(len(loop.places), loop.has_validation) for loop in loops]
    return _Rows(
        places[order],
        np.concatenate([loop.lines for loop in loops])[order],
        np.concatenate([loop.inner for loop in loops])[order],
        np.concatenate([loop.total for loop in loops])[order],
        np.concatenate(validated)[order],
    )


def _latest(announced: Ints, places: Ints) -> Ints:
    """The place of the last announcement before each place, -1 where there is none."""
    known = np.concatenate([[-1], announced])
    latest: Ints = known[np.searchsorted(announced, places)]
    return latest

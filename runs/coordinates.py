"""Coordinates of the rows of one file: filled forward, and derived where only implied."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .columns import GrowingColumn
from .harvest import AXES, Floats, Harvest, Ints
from .loops import Loops


def fill_forward(values: Floats, carry: float) -> Floats:
    """Replace each NaN by the last number before it, `carry` at the beginning."""
    known = ~np.isnan(values)
    if known.all():
        return values
    last = np.maximum.accumulate(np.where(known, np.arange(len(values)), -1))
    return np.where(last >= 0, values[np.maximum(last, 0)], carry)


_MOST_LOOPS = 8
"""Loops of different lengths whose ends are remembered."""


class Coordinates:
    """Row table of one file: line, generation and the axes of every record."""

    def __init__(self) -> None:
        self.line: GrowingColumn[np.int64] = GrowingColumn(np.int64)
        self.generation: GrowingColumn[np.int32] = GrowingColumn(np.int32)
        self.axes: dict[str, GrowingColumn[np.float64]] = {}
        self.stride = 1
        """Of the oldest rows one in so many is kept, besides those that matter."""
        self.thinned_rows = 0
        """How many of the rows that are kept are so old."""
        self._carry: dict[str, float] = {}
        self._recent: dict[str, tuple[float, Floats]] = {}
        """Per axis, what was carried into the harvest added last, and its rows."""
        self._states_step = False
        self._has_loop_ends = False
        self._has_other_steps = False
        """Some were printed, or counted inside an epoch."""
        self._epoch_base: float | None = None
        self._epochs_are_fractions = False
        """Epochs such as 0.17: a trainer's bar then counts the whole run, not an epoch."""
        self.open_share = np.nan
        """How much of its loop the very last row has done, if it says so: of an epoch, of a bar."""
        self._loop_ends: dict[float, float] = {}
        """Per total of a loop, how far it got at most."""
        self.is_inside_loop = False
        """The very last row stands well before the end that its loop had reached before."""
        self.planned_steps: float | None = None
        """Where a bar ends that counts the steps of the whole training."""
        self._inner_offset = 0.0
        self._last_inners = (np.nan, np.nan, np.nan)
        self._step_offset = 0.0
        self._last_printed = (np.nan, np.nan)
        self._last_bar = (np.nan, np.nan)
        """Step of the bar drawn last, and the epoch of the first record behind it."""
        self._steps_per_epoch = np.nan
        self._loops = Loops()
        self._early_total = np.nan
        """Total of a loop that ended before any epoch was named."""
        self._through = self._fallen = 0
        """How often the steps rose, and fell, from one epoch to the next."""

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.line)

    @property
    def nbytes(self) -> int:
        """Bytes held by the table."""
        axes = sum(column.nbytes for column in self.axes.values())
        return self.line.nbytes + self.generation.nbytes + axes

    @property
    def allocated(self) -> int:
        """Bytes held by the table, with its spare room."""
        axes = sum(column.allocated for column in self.axes.values())
        return self.line.allocated + self.generation.allocated + axes

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Forget all rows but some; what is carried on into the next rows stays."""
        self.line.keep(kept)
        self.generation.keep(kept)
        for column in self.axes.values():
            column.keep(kept)

    def restart(self) -> None:
        """A new generation begins: nothing is carried over from the old one."""
        self._carry.clear()
        self._states_step = False
        self._epoch_base = None
        self._epochs_are_fractions = False
        self._inner_offset, self._last_inners = 0.0, (np.nan, np.nan, np.nan)
        self._step_offset, self._last_printed = 0.0, (np.nan, np.nan)
        self._last_bar, self._steps_per_epoch = (np.nan, np.nan), np.nan
        self._loops = Loops()
        self._early_total = np.nan
        self._through = self._fallen = 0

    @property
    def counts_whole_epochs(self) -> bool:
        """True if all steps are those of complete epochs: the log goes by epochs."""
        return self._has_loop_ends and not self._has_other_steps

    def append(self, harvest: Harvest, lines_before: int, generation: int) -> int:
        """Add the rows of a harvest; the number of the first one."""
        first = len(self.line)
        count = len(harvest.line)
        self._recent = {axis: (carry, np.empty(0)) for axis, carry in self._carry.items()}
        if count == 0:
            return first
        self.line.extend(harvest.line + lines_before)
        self.generation.extend(np.full(count, generation, dtype=np.int32))
        axes = dict(harvest.axes)
        if self._epoch_base is None and "epoch" in axes:
            known = axes["epoch"][np.isfinite(axes["epoch"])]
            self._epoch_base = None if len(known) == 0 else (0.0 if known[0] < 1 else 1.0)
        self._derive_step(axes, count)
        self._step_between_bars(axes)
        self._count_steps_on(axes, count)
        for axis in AXES:
            values = axes.get(axis)
            if values is None and axis not in self.axes:
                continue
            column = self.axes.get(axis)
            if column is None:
                column = self.axes[axis] = GrowingColumn(np.float64)
                column.extend(np.full(first, np.nan))
            carry = self._carry.get(axis, np.nan)
            filled = np.full(count, carry) if values is None else fill_forward(values, carry)
            self._carry[axis] = float(filled[-1])
            self._recent[axis] = (carry, filled)
            column.extend(filled)
        return first

    def _note_loop_ends(self, inner: Floats | None, total: Floats | None) -> None:
        """Logs that write every 100th of 150 batches never get to the end: its own epochs tell."""
        self.is_inside_loop = False
        if inner is None or total is None or not len(inner):
            return
        known = np.isfinite(inner) & (total > 0)
        for end in np.unique(total[known])[:_MOST_LOOPS].tolist():
            if end in self._loop_ends or len(self._loop_ends) < _MOST_LOOPS:
                reached = float(inner[known & (total == end)].max())
                self._loop_ends[end] = max(reached, self._loop_ends.get(end, 0.0))
        if known[-1]:
            reached = self._loop_ends.get(float(total[-1]), 0.0)
            self.is_inside_loop = float(inner[-1]) < 0.9 * reached

    def _derive_step(self, axes: dict[str, Floats], count: int) -> None:
        """A global step from epoch and iteration inside the epoch, where none is printed."""
        step = axes.get("step")
        inner = axes.pop("inner", None)
        total = axes.pop("inner total", None)
        self.open_share = _last_share(inner, total)
        self._note_loop_ends(inner, total)
        stated = np.zeros(count, dtype=bool) if step is None else np.isfinite(step)
        # From the first printed step on, only printed steps count.
        unstated = ~np.logical_or.accumulate(stated) & (not self._states_step)
        self._states_step |= bool(stated.any())
        self._has_other_steps |= self._states_step
        if inner is None:
            return
        here = np.isfinite(inner) & unstated
        if not here.any():
            return
        epoch = fill_forward(
            axes.get("epoch", np.full(count, np.nan)), self._carry.get("epoch", np.nan)
        )
        self._note_fractions(epoch[here])
        if total is not None:
            # Beside fractions the training is one single loop.
            whole = epoch * 0.0 if self._epochs_are_fractions else epoch
            here &= self._loops.are_training(inner, total, whole)
        derived = np.full(count, np.nan)
        if total is not None:
            ended = here & np.isnan(epoch) & (inner >= total)
            self._early_total = float(total[ended][-1]) if ended.any() else self._early_total
        counted = here & np.isfinite(epoch) & ((total > 0) if total is not None else False)
        base = self._base_of_epochs(epoch)
        if counted.any() and total is not None and base is not None:
            done = self._epochs_done(epoch[counted], base[counted], inner[counted] / total[counted])
            if not self._epochs_are_fractions and not self._loops.counts_run:
                # Epochs that are named at their end: the loop is already that of the next one.
                done = done + (total[counted] == self._early_total)
            derived[counted] = done * total[counted] + inner[counted]
            is_whole = self._epochs_are_fractions and not done.any()
            self.planned_steps = float(total[counted][-1]) if is_whole else None
            self._has_loop_ends = True
            self._has_other_steps |= bool((inner[counted] < total[counted]).any())
        uncounted = here & ~counted
        if uncounted.any():
            derived[uncounted] = self._accumulate(inner[uncounted])
            self._has_other_steps = True
        axes["step"] = derived if step is None else np.where(here, derived, step)

    def _step_between_bars(self, axes: dict[str, Floats]) -> None:
        """Steps of records that follow one another without a bar between them.

        A bar that is drawn seldom, or into another stream, has the step of the first record
        behind it only. The next ones say by fractions of an epoch how much further they are.
        """
        step, epoch = axes.get("step"), axes.get("epoch")
        if step is None or epoch is None or not self._epochs_are_fractions:
            return
        drawn = np.isfinite(step)
        here = np.flatnonzero(np.isfinite(epoch) & ~drawn)
        if len(here) == 0:
            return
        bar = np.maximum.accumulate(np.where(drawn, np.arange(len(step)), -1))[here]
        begins = np.concatenate([[bar[0] >= 0], bar[1:] != bar[:-1]])
        steps = np.concatenate([[self._last_bar[0]], step[bar[begins]]])
        epochs = np.concatenate([[self._last_bar[1]], epoch[here[begins]]])
        with np.errstate(invalid="ignore", divide="ignore"):
            paces = np.diff(steps) / np.diff(epochs)
        paces = paces[np.isfinite(paces) & (paces > 0)]
        if len(paces):
            self._steps_per_epoch = float(np.median(paces))
        which = np.cumsum(begins)
        further = (epoch[here] - epochs[which]) * self._steps_per_epoch
        self._last_bar = (float(steps[-1]), float(epochs[-1]))
        placed = np.isfinite(further) & (further > 0) & ~begins
        located = step.copy()
        located[here[placed]] = np.rint(steps[which] + further)[placed]
        axes["step"] = located

    def _note_fractions(self, epoch: Floats) -> None:
        part = epoch[np.isfinite(epoch)] % 1.0
        self._epochs_are_fractions |= bool(np.any((part > 1e-9) & (part < 1 - 1e-9)))

    def _base_of_epochs(self, epoch: Floats) -> Floats | None:
        """The number of the first epoch at each row: 0 from the first epoch 0 on.

        The first number that looked like an epoch may have been a plan, such as `epochs: 100`.
        """
        if self._epoch_base is None:
            return None
        is_zero = np.logical_or.accumulate(epoch < 1) | (self._epoch_base == 0)
        base = np.where(is_zero, 0.0, self._epoch_base)
        self._epoch_base = float(base[-1])
        return base

    def _epochs_done(self, epoch: Floats, base: Floats, share: Floats) -> Floats:
        """Whole epochs before each record; none where the count is of the whole run."""
        if not self._epochs_are_fractions:
            return np.where(self._loops.counts_run, 0.0, epoch - base)
        part = epoch % 1.0
        is_inside = np.abs(part - share % 1.0) < 0.02
        agrees = bool(np.mean(is_inside) > 0.8) and float(epoch.max()) > 1.0
        return np.floor(epoch) if agrees else np.zeros(len(epoch))

    def _accumulate(self, inner: Floats) -> Floats:
        """Iterations that start again from the beginning are counted on.

        Several processes may tell each of them; what counts is how they change.
        """
        is_new = inner != np.concatenate([self._last_inners[-1:], inner[:-1]])
        fresh = inner[is_new]
        known = np.concatenate([self._last_inners, fresh])
        earlier, before, previous = known[:-3], known[1:-2], known[2:-1]
        stride = previous - before
        # Counts from 1 begin with their stride. Those from 0 begin with nothing: their last one
        # stands for a stride like the others, unless it came sooner because it was the last.
        at_zero = np.where(stride == before - earlier, stride, 1.0)
        missing = np.where(fresh > 0, np.clip(stride - fresh, 0.0, None), at_zero)
        missing = np.where(np.isnan(missing), 1.0, missing)
        restarts = fresh < previous
        added = np.cumsum(np.where(restarts, previous + missing, 0.0))
        offset = np.concatenate([[0.0], added])[np.cumsum(is_new)] + self._inner_offset
        self._inner_offset = float(offset[-1])
        self._last_inners = (float(known[-3]), float(known[-2]), float(known[-1]))
        counted: Floats = inner + offset
        return counted

    def _count_steps_on(self, axes: dict[str, Floats], count: int) -> None:
        """Make steps that begin again with every epoch steps of the whole training.

        They fall when the epoch rises; after a restart from a checkpoint it does not.
        """
        step = axes.get("step")
        if step is None:
            return
        epoch = fill_forward(
            axes.get("epoch", np.full(count, np.nan)), self._carry.get("epoch", np.nan)
        )
        here = np.flatnonzero(np.isfinite(step) & np.isfinite(epoch))
        if len(here) == 0:
            return
        steps = np.concatenate([[self._last_printed[0]], step[here]])
        epochs = np.concatenate([[self._last_printed[1]], epoch[here]])
        if self._epochs_are_fractions:
            # Fractions rise with every record; only a new epoch starts a count anew.
            epochs = np.floor(epochs)
        self._last_printed = (float(steps[-1]), float(epochs[-1]))
        falls = steps[1:] < steps[:-1]
        is_next_epoch = (epochs[1:] > epochs[:-1]) & ~self._is_whole_count(steps, epochs)
        added = np.where(falls & is_next_epoch, steps[:-1] + (steps[1:] == 0), 0.0)
        is_restart = falls & ~is_next_epoch
        if not added.any() and not self._step_offset and not is_restart.any():
            return
        total = np.cumsum(added) + self._step_offset
        # A restart counts from its own steps again.
        dropped = np.maximum.accumulate(np.where(is_restart, total, 0.0))
        offset = total - dropped
        self._step_offset = float(offset[-1])
        counted = step.copy()
        counted[here] += offset
        axes["step"] = counted

    def _is_whole_count(self, steps: Floats, epochs: Floats) -> npt.NDArray[np.bool_]:
        """Whether each record's steps had gone on rising from epoch to epoch before it."""
        is_later = epochs[1:] > epochs[:-1]
        through = np.cumsum(is_later & (steps[1:] > steps[:-1])) + self._through
        falls = is_later & (steps[1:] < steps[:-1])
        fallen = np.cumsum(falls) + self._fallen
        self._through, self._fallen = int(through[-1]), int(fallen[-1])
        before: npt.NDArray[np.bool_] = through > 2 * (fallen - falls) + 2
        return before

    def current_steps(self, harvest: Harvest, lines: Ints) -> list[float | None]:
        """The step (else the epoch) that was current at lines of the harvest added last."""
        axis = "step" if "step" in self._recent else "epoch"
        before, values = self._recent.get(axis, (np.nan, np.empty(0)))
        known = np.concatenate([[before], values])
        found = (
            known[np.searchsorted(harvest.line, lines, side="right")]
            if len(known) > 1
            else known[[0] * len(lines)]
        )
        return [float(step) if np.isfinite(step) else None for step in found]

    def reached(self, axis: str) -> float:
        """Where the last row is on an axis; NaN if that is not known."""
        return self._carry.get(axis, np.nan)

    def axis(self, name: str, rows: Ints | npt.NDArray[np.int32]) -> Floats:
        """Values of an axis at some rows, NaN where unknown."""
        column = self.axes.get(name)
        if column is None:
            return np.full(len(rows), np.nan)
        values: Floats = column.view()[rows]
        return values


def _last_share(inner: Floats | None, total: Floats | None) -> float:
    """How far the last row is in its loop; NaN if it does not say."""
    if inner is None or total is None or not len(inner) or not total[-1] > 0:
        return np.nan
    return float(inner[-1] / total[-1])

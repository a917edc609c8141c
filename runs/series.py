"""A series: one metric of one file, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .columns import GrowingColumn
from .coordinates import Coordinates
from .harvest import AXES, Floats, Ints

ENOUGH_POINTS = 3
"""A number with an unknown name must come back this often, and change, to be a metric."""


def _rows() -> GrowingColumn[np.int32]:
    # Four bytes count two billion records, and there is one number for every value.
    return GrowingColumn(np.int32)


def _values() -> GrowingColumn[np.float64]:
    return GrowingColumn(np.float64)


@dataclass(slots=True)
class Series:
    """All values of one metric, in the order in which they were logged."""

    name: str
    role: str | None
    unit: str
    rank: int | None
    split: str
    file: int
    """Which of the run's files it is from."""
    coordinates: Coordinates
    is_certain: bool = False
    dropped: int = 0
    """Points that were logged and are no longer kept."""
    dropped_nan: int = 0
    """How many of those were NaN."""
    dropped_inf: int = 0
    """How many of those were infinite."""
    layer: str = ""
    """The layer of a model that it measures, where the file says so; its name only looks so."""
    _rows: GrowingColumn[np.int32] = field(default_factory=_rows)
    _values: GrowingColumn[np.float64] = field(default_factory=_values)
    _low: float = np.inf
    _high: float = -np.inf
    _axis: str = "index"
    _judged: int = 0
    """Points that were looked at when the axis was chosen; rows never change afterwards."""
    _has_steps: bool = False
    """Points at more than one step have been seen."""
    _moves_on: str = ""
    """The axis on which it was seen to move, which more points do not change."""

    def append(self, rows: Ints, values: Floats) -> None:
        """Add points."""
        self._rows.extend(rows.astype(np.int32, copy=False))
        self._values.extend(values)
        if not self.is_certain:
            finite = values[np.isfinite(values)]
            if len(finite):
                self._low = min(self._low, float(finite.min()))
                self._high = max(self._high, float(finite.max()))

    @property
    def is_metric(self) -> bool:
        """False for a lone or constant number with a name we do not know."""
        if self.is_certain:
            return True
        if self.logged < ENOUGH_POINTS:
            return False
        is_named = self.role is not None and not self.role.startswith("axis/")
        if self._low >= self._high:
            # Of a constant rate or memory the log tells again and again that it is one.
            return is_named and self._high != 0.0 and self._moves_with_training()
        return is_named or self._moves_with_training()

    def _moves_with_training(self) -> bool:
        """Dumps of settings and models repeat too, but not at several points of a training."""
        for axis in ("step", "epoch"):
            if axis in self.coordinates.axes:
                if self._moves_on != axis:
                    positions = self.axis(axis)
                    found = len(np.unique(positions[np.isfinite(positions)]))
                    self._moves_on = axis if found >= ENOUGH_POINTS else ""
                return self._moves_on == axis
        fractional = self.values[np.isfinite(self.values)] % 1 != 0
        return len(self) > ENOUGH_POINTS + 1 and bool(fractional.mean() > 0.5)

    def keep(self, kept: npt.NDArray[np.bool_], numbers: npt.NDArray[np.int32]) -> None:
        """Forget the points in all rows but some; `numbers` are the new ones of the rows."""
        rows = self.rows
        mine: npt.NDArray[np.bool_] = kept[rows]
        lost = self.values[~mine]
        self.dropped += len(lost)
        self.dropped_nan += int(np.isnan(lost).sum())
        self.dropped_inf += int(np.isinf(lost).sum())
        self._judged = int(mine[: self._judged].sum())
        self._values.keep(mine)
        self._rows = _rows()
        self._rows.extend(numbers[rows[mine]])

    def __len__(self) -> int:
        """Count the points that are kept."""
        return len(self._values)

    @property
    def logged(self) -> int:
        """Count the points that were logged, kept or not."""
        return len(self._values) + self.dropped

    @property
    def dropped_bad(self) -> int:
        """Count the dropped points that were NaN or infinite."""
        return self.dropped_nan + self.dropped_inf

    @property
    def values(self) -> Floats:
        """The values, NaN and infinities included."""
        return self._values.view()

    @property
    def rows(self) -> npt.NDArray[np.int32]:
        """Row numbers in the file's coordinates."""
        return self._rows.view()

    @property
    def lines(self) -> Ints:
        """1-based line of every point."""
        lines: Ints = self.coordinates.line.view()[self.rows]
        return lines

    def line_of(self, point: int) -> int:
        """1-based line of one point; negative numbers count from the end."""
        return int(self.coordinates.line.view()[self.rows[point]])

    @property
    def axis_name(self) -> str:
        """The best x-axis that at least one point has a coordinate on, else `index`."""
        if self._judged < len(self):
            fresh = self.rows[self._judged :]
            self._judged = len(self)
            for name in AXES:
                if name == self._axis:
                    break
                if np.isfinite(self.coordinates.axis(name, fresh)).any():
                    self._axis = name
                    break
            self._note_steps(fresh)
        by_epoch = self._stands_still() or self.coordinates.counts_whole_epochs
        return "epoch" if self._axis == "step" and by_epoch else self._axis

    def _note_steps(self, fresh: npt.NDArray[np.int32]) -> None:
        """Whether the steps of the points have ever differed."""
        if self._axis != "step" or self._has_steps:
            return
        first = self.coordinates.axis("step", self.rows[:1])
        steps = self.coordinates.axis("step", fresh)
        self._has_steps = bool((steps[np.isfinite(steps)] != first[0]).any())

    def _stands_still(self) -> bool:
        """All points at one step that was printed long ago, though their epochs go on."""
        if self._has_steps or len(self) < ENOUGH_POINTS:
            return False
        first, last = self.coordinates.axis("epoch", self.rows[[0, -1]])
        return bool(np.isfinite(first) and np.isfinite(last) and first != last)

    def axis(self, name: str) -> Floats:
        """Coordinates on one axis; `index` counts the points."""
        if name == "index":
            return np.arange(len(self), dtype=np.float64)
        return self.coordinates.axis(name, self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes held by the columns of this series."""
        return self._rows.nbytes + self._values.nbytes

    @property
    def allocated(self) -> int:
        """Bytes held by the columns of this series, with their spare room."""
        return self._rows.allocated + self._values.allocated

"""Curves: a metric as analyzers see it, on its newest branch, growing with its series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from mltd.runs.columns import GrowingColumn
from mltd.runs.harvest import Floats, Ints
from mltd.runs.series import Series

from .bins import Bins
from .excursions import Excursion, ExcursionScan
from .finding import Evidence, EvidenceKind
from .grain import grain

Derived = TypeVar("Derived")

SAMPLE = 4096
"""Points at the end of a long series that stand for it where one number is wanted."""
_MANY_FALLS = 8
_OFTEN = 0.02
"""A counter that falls more often than this was written by several processes at once."""


@dataclass(frozen=True, slots=True)
class Restart:
    """A place where the counter went back: the run was resumed or begun anew."""

    raw: int
    """Number of the first point after it, in the series."""
    at: int
    """Position in the curve from which on the points are newer."""
    reached: float
    """Step that the branch before it had reached."""
    resumed: float
    before: Floats
    """Values of the branch before, from the resumed step on (at most a few hundred)."""


class Curve:
    """One series, with what was overwritten by a resumed run taken out."""

    def __init__(self, series: Series, *, only_changes: bool = False) -> None:
        self.series = series
        self.only_changes = only_changes
        """A bar repeats its last evaluation with every redraw: only new values count."""
        self._begin()

    def _begin(self) -> None:
        """Nothing has been seen yet."""
        self.restarts: list[Restart] = []
        self.is_interleaved = False
        """Several writers share the counter, so only the order of lines can be trusted."""
        self.axis_name = self.series.axis_name
        self._raw: GrowingColumn[np.int32] = GrowingColumn(np.int32)
        """Numbers of the series' points that are on the newest branch."""
        self._x: GrowingColumn[np.float64] = GrowingColumn(np.float64)
        self._y: GrowingColumn[np.float64] = GrowingColumn(np.float64)
        self._seen = 0
        self._offset = 0.0
        self._falls = 0
        self._forget_branch()

    # -- growing --------------------------------------------------------------------------

    def update(self) -> bool:
        """Take in the new points of the series; True if there were any."""
        if self.axis_name != self.series.axis_name:
            self._begin()
        count = len(self.series)
        if count == self._seen:
            return False
        raw_x = self._new_x(count)
        raw_y = self.series.values[self._seen : count]
        numbers = np.arange(self._seen, count, dtype=np.int32)
        if self.only_changes:
            before = self.series.values[self._seen - 1] if self._seen else np.nan
            is_new = raw_y != np.concatenate([[before], raw_y[:-1]])
            raw_x, raw_y, numbers = raw_x[is_new], raw_y[is_new], numbers[is_new]
        falls = np.flatnonzero(raw_x < np.concatenate([[self._last_x()], raw_x])[:-1])
        if not self.is_interleaved and self._is_shared(numbers[falls]):
            self._give_up_counter(count)
            return True
        edges = [0, *falls.tolist(), len(raw_x)]
        for start, stop in pairwise(edges):
            if stop == start:
                continue
            if start in falls and len(self._x):
                self._go_back(float(raw_x[start]), int(numbers[start]))
            here = slice(start, stop)
            self._add(numbers[here], raw_x[here] + self._offset, raw_y[here])
        self._seen = count
        return True

    def _is_shared(self, falls: npt.NDArray[np.int32]) -> bool:
        """True if the counter fell too often, judged at each fall: however the points came."""
        so_far = self._falls + np.arange(1, len(falls) + 1)
        self._falls += len(falls)
        return bool(np.any((so_far > _MANY_FALLS) & (so_far > _OFTEN * (falls + 1))))

    def _add(self, numbers: npt.NDArray[np.int32], x: Floats, y: Floats) -> None:
        self._raw.extend(numbers)
        self._x.extend(x)
        self._y.extend(y)
        self._bins.add(x, y)
        self._forget_derived()

    def _forget_derived(self) -> None:
        self.__dict__.pop("_statistics", None)
        self._memo: dict[str, object] = {}

    def memo(self, name: str, make: Callable[[Curve], Derived]) -> Derived:
        """Something derived from the points, computed once until there are more."""
        if name not in self._memo:
            self._memo[name] = make(self)
        return cast("Derived", self._memo[name])

    def _new_x(self, count: int) -> Floats:
        if self.axis_name == "index" or self.is_interleaved:
            return np.arange(self._seen, count, dtype=np.float64)
        x = self.series.coordinates.axis(self.axis_name, self.series.rows[self._seen : count])
        known = np.isfinite(x)
        if known.all():
            return x
        carry = self._last_x()
        last = np.maximum.accumulate(np.where(known, np.arange(len(x)), -1))
        return np.where(last >= 0, x[np.maximum(last, 0)], carry if np.isfinite(carry) else 0.0)

    def _last_x(self) -> float:
        return float(self._x.view()[-1]) - self._offset if len(self._x) else -np.inf

    def _give_up_counter(self, count: int) -> None:
        self.is_interleaved = True
        self.restarts, self._offset = [], 0.0
        self._seen = 0
        self._keep(0)
        numbers = np.arange(count, dtype=np.int32)
        self._add(numbers, self._new_x(count), self.series.values[:count])
        self._seen = count

    def _keep(self, count: int) -> None:
        """Begin anew with the first points alone."""
        numbers = self._raw.view()[:count].copy()
        x, y = self._x.view()[:count].copy(), self._y.view()[:count].copy()
        self._raw = GrowingColumn(np.int32)
        self._x, self._y = GrowingColumn(np.float64), GrowingColumn(np.float64)
        self._forget_branch()
        self._add(numbers, x, y)

    def _forget_branch(self) -> None:
        self._bins = Bins()
        self._scan, self._log_scan = ExcursionScan(grain=grain), ExcursionScan(floor=0.01)
        self.__dict__.pop("_statistics", None)

    def _go_back(self, x: float, raw: int) -> None:
        """The counter fell: cut off what the new branch replaces, or count on."""
        kept_x, kept_y = self.x, self.y
        if self._counts_on(x, kept_x, kept_y, float(self.series.values[raw])):
            self._offset = float(kept_x[-1]) + (1.0 if x == 0 else 0.0)
            return
        self._offset = 0.0
        at = int(np.searchsorted(kept_x, x, side="left"))
        self.restarts.append(
            Restart(raw, at, float(kept_x[-1]), x, kept_y[at : at + SAMPLE // 8].copy())
        )
        self._keep(at)

    def _counts_on(self, x: float, kept_x: Floats, kept_y: Floats, value: float) -> bool:
        """A counter that begins again every epoch: the values go on where they were."""
        if len(kept_y) < 4 or x > kept_x[0] + max(1.0, abs(float(kept_x[0]))):
            return False
        few = max(1, min(8, len(kept_y) // 4))
        head, tail = _level(kept_y[:few]), _level(kept_y[-few:])
        return abs(value - tail) < 0.5 * abs(value - head)

    # -- points ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name as logged."""
        return self.series.name

    @property
    def role(self) -> str:
        """The canonical role, or the name where there is none."""
        return self.series.role or self.series.name

    @property
    def x(self) -> Floats:
        """Steps (or whatever the run counts in) of the newest branch, never falling."""
        return self._x.view()

    @property
    def y(self) -> Floats:
        """Values of the newest branch, NaN and infinities included."""
        return self._y.view()

    def __len__(self) -> int:
        """Count the points of the newest branch."""
        return len(self._y)

    def raw_index(self, position: int) -> int:
        """Number of a point in the series, from its position in the curve."""
        return int(self._raw.view()[position])

    def line(self, position: int) -> int:
        """1-based line of a point in its file."""
        row = self.series.rows[self.raw_index(position)]
        return int(self.series.coordinates.line.view()[row])

    @property
    def bins(self) -> tuple[Floats, Floats, Floats, Floats, Floats, Ints]:
        """At most a few thousand bins: first x, last x, mean, low, high, finite points."""
        return self._bins.arrays

    @property
    def bin_width(self) -> int:
        """Points in a bin."""
        return self._bins.width

    # -- what is known about it -----------------------------------------------------------

    @property
    def excursions(self) -> list[Excursion]:
        """Stretches above the range of the points before them."""
        self._scan.extend(self.y[len(self._scan) :])
        return self._scan.found

    @property
    def log_excursions(self) -> list[Excursion]:
        """The same for the logarithm of a positive series: factors instead of differences."""
        fresh = self.y[len(self._log_scan) :]
        with np.errstate(invalid="ignore"):
            self._log_scan.extend(np.log(np.where(fresh > 0, fresh, np.nan)))
        return self._log_scan.found

    @cached_property
    def _statistics(self) -> dict[str, float]:
        tail = self.y[-SAMPLE:]
        finite = tail[np.isfinite(tail)]
        steps = np.diff(self.x[-SAMPLE:])
        steps = steps[steps > 0]
        # Differences of huge values may be infinite, which is what they are.
        with np.errstate(over="ignore", invalid="ignore"):
            moves = np.diff(finite)
            signs = np.sign(moves[moves != 0])
            flips = np.mean(signs[1:] != signs[:-1]) if len(signs) > 8 else 0.66
            scale = 0.0
            if len(moves):
                scale = 1.4826 * float(np.median(np.abs(moves - np.median(moves))))
        return {
            "flips": float(flips),
            "spacing": float(np.median(steps)) if len(steps) else 1.0,
            "noise": scale / np.sqrt(2.0) if np.isfinite(scale) else np.inf,
            "grain": grain(finite[-256:]),
            "repeats": float(np.mean(moves == 0)) if len(moves) else 0.0,
        }

    @property
    def flips(self) -> float:
        """Share of moves that turn back: 2/3 for independent noise, near 0 if smoothed."""
        return self._statistics["flips"]

    @property
    def spacing(self) -> float:
        """Usual distance between two points on the axis."""
        return self._statistics["spacing"]

    @property
    def noise(self) -> float:
        """Robust deviation of a point from its neighbours."""
        return self._statistics["noise"]

    @property
    def grain(self) -> float:
        """Distance between neighbouring values that could be printed, 0 if it is tiny."""
        return self._statistics["grain"]

    @property
    def repeats(self) -> float:
        """Share of points equal to the one before, to the last digit."""
        return self._statistics["repeats"]

    # -- pointing -------------------------------------------------------------------------

    def step(self, position: int) -> float:
        """The step of a point."""
        return float(self.x[position])

    def evidence(self, first: int, last: int | None = None, quote: str = "") -> Evidence:
        """A stretch of this curve as evidence; the quote is its values unless given."""
        last = first if last is None else last
        place, shown = f"{self.x[first]:.10g}", f"{self.y[first]:.4g}"
        if last != first:
            place, shown = f"{place}..{self.x[last]:.10g}", f"{shown} -> {self.y[last]:.4g}"
        return Evidence(EvidenceKind.SERIES, f"{self.name}@{place}", quote or shown)

    def remark(self, quote: str) -> Evidence:
        """Something about the whole curve as evidence."""
        return Evidence(EvidenceKind.SERIES, self.name, quote)


def _level(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    # Halves first: the mean of two huge values must not become infinite.
    return 2.0 * float(np.median(finite / 2.0)) if len(finite) else np.nan

"""Bounded memory for runs of any length: fewer of the old rows, none of those that matter.

Old rows are kept at an even stride, which doubles when memory runs out; rows that have come
since are then thinned to the same stride. The newest rows stay as they are. So do the rows that
a curve or a rule would miss: extremes, values that are not finite, both sides of a restart,
the few points of a metric that is seldom logged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from .harvest import Ints
from .run import Run
from .series import Series

MOST_COLUMN_BYTES = 96 << 20
"""Columns of a run that a command without a screen keeps: some millions of points."""
NEWEST = 4096
"""Rows at the end that are never dropped: where rules look closest."""
LEAST_NEWEST = 256
"""Rows at the end that stay even if a row has thousands of values."""
WORTH_IT = 16
"""New rows are thinned when they are more than this part of all."""
FEW = 4096
"""Points up to which a series is spared, as long as such series are a small part."""
NEIGHBOURHOOD = 64
"""Rows, for a stride of two, of which each series keeps the lowest and the highest value."""
ROWS_PER_SERIES = 16
"""Many series have many extremes: their neighbourhoods are larger."""
SHARE = 1 / 8
"""Of what is left after thinning: so much at most for each reason to spare rows."""
TARGET = 0.6
"""Share of the limit down to which a run is thinned, so that it is not done all the time."""

Bools = npt.NDArray[np.bool_]


def thin_if_larger(run: Run, max_bytes: int) -> int:
    """Thin a run whose columns hold more than so many bytes; the factor it is thinned by."""
    if run.allocated <= max_bytes:
        return run.thinned
    rows = sum(len(source.coordinates) for source in run.files)
    # A row with thousands of metrics, or one of very many files: fewer are recent enough.
    recent = int(rows * max_bytes / 4 / run.allocated / max(1, len(run.files)))
    newest = min(NEWEST, max(LEAST_NEWEST, recent))
    _catch_up(run, newest)
    while run.allocated > TARGET * max_bytes and thin(run, newest):
        pass
    return run.thinned


def thin(run: Run, newest: int | None = None) -> bool:
    """Double the stride at which old rows are kept; False if there is nothing to gain."""
    newest = NEWEST if newest is None else newest
    thinnings = run.thinnings
    _catch_up(run, newest)
    for file, source in enumerate(run.files):
        table = source.coordinates
        old = table.thinned_rows if table.stride > 1 else len(table) - newest
        if old > newest:
            table.stride *= 2
            table.thinned_rows = _drop(run, file, 0, old, 2)
    return run.thinnings > thinnings


def _catch_up(run: Run, newest: int) -> None:
    """Thin the rows that have come since to the stride of those before them."""
    for file, source in enumerate(run.files):
        table = source.coordinates
        first, stop = table.thinned_rows, len(table) - newest
        if table.stride > 1 and WORTH_IT * (stop - first) > len(table):
            table.thinned_rows = _drop(run, file, first, stop, table.stride)


def _drop(run: Run, file: int, first: int, stop: int, factor: int) -> int:
    """Keep one in `factor` of the rows from `first` up to `stop`; how many are then before."""
    kept = np.ones(len(run.files[file].coordinates), dtype=bool)
    series = [one for one in run.of_file(file) if len(one)]
    kept[first:stop] = _Choice(run, file, series, first, stop, factor).made()
    if not kept.all():
        run.thin(file, kept)
    return int(np.count_nonzero(kept[:stop]))


class _Choice:
    """Which rows of a stretch are kept."""

    def __init__(
        self, run: Run, file: int, series: Sequence[Series], first: int, stop: int, factor: int
    ) -> None:
        self._coordinates = run.files[file].coordinates
        self._first, self._stop, self._factor = first, stop, factor
        self._rows = stop - first
        # The fewest points first, so that a seldom logged metric is thinned among its own.
        self._series = sorted(series, key=len)
        self._within = [(one, *self._part(one)) for one in self._series]

    def _part(self, series: Series) -> tuple[int, int]:
        """The points of a series that are in the stretch."""
        low, high = np.searchsorted(series.rows, [self._first, self._stop])
        return int(low), int(high)

    def _points(self) -> Iterator[tuple[Series, Ints, npt.NDArray[np.float64]]]:
        """Each series with the rows, counted from the first of the stretch, and its values."""
        for series, low, high in self._within:
            if low < high:
                rows = series.rows[low:high].astype(np.int64) - self._first
                yield series, rows, series.values[low:high]

    def made(self) -> Bools:
        """True for each row that stays."""
        kept = np.zeros(self._rows, dtype=bool)
        kept[[0, -1]] = True
        self._thin_evenly(kept)
        kept |= self._extremes()
        everywhere, at_ends, somewhere = self._not_finite()
        self._spare(kept, everywhere)
        self._spare(kept, at_ends)
        self._spare(kept, self._breaks())
        return kept | somewhere

    def _spare(self, kept: Bools, rows: Bools) -> None:
        """Keep some rows as well, unless they are so many that nothing would be gained."""
        if np.count_nonzero(rows) <= SHARE * self._rows / (self._factor / 2):
            kept |= rows

    def _thin_evenly(self, kept: Bools) -> None:
        free = np.ones(self._rows, dtype=bool)
        room = int(SHARE * self._rows / (self._factor / 2))
        for series, rows, _ in self._points():
            mine = np.unique(rows[free[rows]])
            free[mine] = False
            is_rare = len(series) <= FEW and len(mine) <= room
            room -= len(mine) if is_rare else 0
            kept[mine if is_rare else mine[:: self._factor]] = True
            if len(series) > FEW:
                kept[rows[[0, -1]]] = True
        kept[np.flatnonzero(free)[:: self._factor]] = True

    def _neighbourhood(self) -> int:
        least = max(NEIGHBOURHOOD, ROWS_PER_SERIES * len(self._series))
        return least * self._factor // 2

    def _extremes(self) -> Bools:
        """The lowest and the highest value of every series in every neighbourhood."""
        kept = np.zeros(self._rows, dtype=bool)
        size = self._neighbourhood()
        for _, rows, values in self._points():
            finite = np.isfinite(values)
            rows, values = rows[finite], values[finite]
            if not len(rows):
                continue
            group = rows // size
            first = np.flatnonzero(np.concatenate([[True], np.diff(group) > 0]))
            lengths = np.diff(np.append(first, len(rows)))
            for extreme in (np.minimum, np.maximum):
                found = np.flatnonzero(
                    values == np.repeat(extreme.reduceat(values, first), lengths)
                )
                _, which = np.unique(group[found], return_index=True)
                kept[rows[found[which]]] = True
        return kept

    def _breaks(self) -> Bools:
        """Both sides of every place where a new generation begins or a counter goes back."""
        here = slice(self._first, self._stop)
        table = self._coordinates
        breaks = np.diff(table.generation.view()[here]) != 0
        for axis in ("step", "epoch"):
            if axis in table.axes:
                x = table.axes[axis].view()[here]
                breaks |= (x[1:] < x[:-1]) | (np.isnan(x[1:]) != np.isnan(x[:-1]))
        both = np.zeros(self._rows, dtype=bool)
        both[:-1] |= breaks
        both[1:] |= breaks
        return both

    def _not_finite(self) -> tuple[Bools, Bools, Bools]:
        """Rows with values that are not finite: all; the ends of stretches; one here and there."""
        everywhere, ends, some = (np.zeros(self._rows, dtype=bool) for _ in range(3))
        size = self._neighbourhood()
        for _, rows, values in self._points():
            bad = ~np.isfinite(values)
            if not bad.any():
                continue
            everywhere[rows[bad]] = True
            inside = bad[1:-1] & bad[:-2] & bad[2:]
            bad[1:-1] &= ~inside
            ends[rows[bad]] = True
            _, which = np.unique(rows[bad] // size, return_index=True)
            some[rows[bad][which]] = True
        return everywhere, ends, some

"""Values of the main metrics at the places that the evidence names."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mltd.analyzers.core.glance import Glance, has_axis, points_of
from mltd.runs.run import Run
from mltd.runs.series import Series

from .curves import find_metric
from .material import ValueTable
from .pieces import Described, Piece, number, parts, text
from .references import stretch_of

_COLUMNS = ("train/loss", "val/loss", "grad_norm", "lr", "val/accuracy", "loss_scale")
_MOST_COLUMNS = 6
_MOST_ROWS = 10


def values_at(run: Run, pieces: Iterable[Piece], diagnosis: Described | None) -> ValueTable | None:
    """A row per place, a column per metric; None if the evidence names no place."""
    stretches = [stretch_of(piece.ref) for piece in pieces if piece.kind == "series"]
    named = {s.name: find_metric(run, s.name) for s in stretches}
    known = [series for series in named.values() if series is not None]
    axis = next((one.axis_name for one in known if one.axis_name != "time"), None)
    if axis is None:
        return None
    places: dict[float, list[str]] = {}
    for stretch in stretches:
        series = named[stretch.name]
        if stretch.first is None or series is None or series.axis_name != axis:
            continue
        for x in (stretch.first, stretch.last):
            if x is not None and stretch.name not in places.setdefault(x, []):
                places[x].append(stretch.name)
    columns = _columns(run, known, axis)
    if not places or not columns:
        return None
    points = [points_of(series, axis) for series in columns]
    ends = [float(x[-1]) for x, _ in points if len(x)]
    starts = [float(x[0]) for x, _ in points if len(x)]
    for finding in parts(diagnosis or {}, "findings"):
        if (onset := number(finding, "first_step")) in places:
            places[onset].insert(0, f"{text(finding, 'id')} begins")
    chosen = sorted(places)[:_MOST_ROWS]
    if starts and min(starts) not in places:
        chosen.insert(0, min(starts))
        places[min(starts)] = ["first record"]
    if ends and max(ends) not in places:
        chosen.append(max(ends))
        places[max(ends)] = ["last record"]
    rows = tuple(
        (x, tuple(_at(*one, x) for one in points), ", ".join(places[x][:3])) for x in chosen
    )
    return ValueTable(axis, tuple(series.name for series in columns), rows)


def _columns(run: Run, named: Iterable[Series], axis: str) -> list[Series]:
    view = Glance(run)
    main = (view.primary(role) for role in _COLUMNS)
    found: dict[int, Series] = {}
    for series in (*main, *named):
        if series is not None and len(series) and has_axis(series, axis):
            found.setdefault(id(series), series)
    return list(found.values())[:_MOST_COLUMNS]


def _at(
    x: np.ndarray[tuple[int], np.dtype[np.float64]],
    y: np.ndarray[tuple[int], np.dtype[np.float64]],
    place: float,
) -> float | None:
    """The last value that was logged at a place or before it."""
    count = int(np.searchsorted(x, place, side="right"))
    return float(y[count - 1]) if count else None

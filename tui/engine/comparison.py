"""Two runs side by side: every metric at the last place that both have reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mltd.analyzers.core.glance import Glance, has_axis, points_of
from mltd.analyzers.gradients.layers import is_of_a_layer
from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise
from mltd.runs.run import Run
from mltd.runs.series import Series

from .protocol import CompareRequest, CompareRow, Comparison

_AXES = ("step", "epoch", "tokens", "samples", "index")
"""Where two runs can meet; moments of the clock they do not share."""
_WINDOW = 5
_SHARE = 20
"""A value is the median of the last 5 points, or of a twentieth of them where they are few."""
_SMALLER = frozenset(
    {"loss", "perplexity", "error_rate", "regression_error", "step_time", "data_time", "memory",
     "overflow_count"}
)  # fmt: skip
_LARGER = frozenset({"accuracy", "score", "throughput", "mfu", "reward"})
_DISTANCES = ("fid", "dis", "medr")
"""How words begin that make a score a distance."""
_ORDER = ("loss", "perplexity", "accuracy", "error_rate", "score", "regression_error", "reward",
          "grad_norm", "lr", "throughput", "mfu", "step_time", "data_time", "memory")  # fmt: skip
_SPLITS = ("train", "val", "test")

_Pair = tuple[Series | None, Series | None]


def compare(request: CompareRequest, before: Run, after: Run) -> Comparison:
    """The answer to a request: the loss first, metrics of one run alone included."""
    rows = [_row(*pair) for pair in _pairs(Glance(before), Glance(after))]
    rows.sort(key=_importance)
    return Comparison(request.ticket, request.before, request.after, tuple(rows))


def smaller_is_better(role: str | None, name: str) -> bool | None:
    """Which direction is better, as far as one can tell by what is measured."""
    kind = _kind(role)
    if kind in _SMALLER:
        return True
    if kind == "score" and any(word.startswith(_DISTANCES) for word in normalise(name).split()):
        return True
    return False if kind in _LARGER else None


def _pairs(before: Glance, after: Glance) -> Iterator[_Pair]:
    """Metrics that mean the same: those that stand for a role, then those of one name."""
    used: set[int] = set()
    roles = dict.fromkeys(s.role for view in (before, after) for s in view.series if s.role)
    for role in roles:
        first, second = before.primary(role), after.primary(role)
        if first is None or second is None or role.startswith("axis/"):
            continue
        if is_of_a_layer(first.name) or is_of_a_layer(second.name):
            continue  # one layer does not stand for the others
        used |= {id(first), id(second)}
        yield first, second
    left, right = _by_name(before, used), _by_name(after, used)
    for name, series in left.items():
        yield series, right.pop(name, None)
    for series in right.values():
        yield None, series


def _by_name(view: Glance, used: set[int]) -> dict[str, Series]:
    """The metrics that are left; of several files with one name, the fullest."""
    found: dict[str, Series] = {}
    for curve in view.all_curves():
        series = curve.series
        if id(series) not in used:
            known = found.get(series.name)
            if known is None or len(series) > len(known):
                found[series.name] = series
    return found


def _row(before: Series | None, after: Series | None) -> CompareRow:
    sides = (before, after)
    known = [series for series in sides if series is not None]
    role = known[0].role
    is_one_name = len({series.name for series in known}) == 1
    name = known[0].name if is_one_name else role or known[0].name
    is_smaller = smaller_is_better(role, name)
    axis = next(axis for axis in _AXES if all(has_axis(series, axis) for series in known))
    points = [None if series is None else points_of(series, axis) for series in sides]
    at = min((float(x[-1]) for x, _ in filter(None, points) if len(x)), default=None)
    values = [None if one is None or at is None else _value(*one, at) for one in points]
    best = [None if one is None else _best(one[1], is_smaller) for one in points]
    return CompareRow(
        name, role, axis, at, values[0], values[1], best[0], best[1], smaller_is_better=is_smaller
    )


def _value(x: Floats, y: Floats, at: float) -> float | None:
    """The level at a place: a median, so that one odd batch does not decide."""
    count = int(np.searchsorted(x, at, side="right"))
    if count == 0:
        return None
    window = y[count - min(_WINDOW, max(1, count // _SHARE)) : count]
    finite = window[np.isfinite(window)]
    if 2 * len(finite) <= len(window):
        return float(window[-1]) if not np.isfinite(window[-1]) else float("nan")
    # Halves first: the median of two huge values must not become infinite.
    return 2.0 * float(np.median(finite / 2.0))


def _best(y: Floats, is_smaller: bool | None) -> float | None:
    finite = y[np.isfinite(y)]
    if is_smaller is None or not len(finite):
        return None
    return float(finite.min() if is_smaller else finite.max())


def _kind(role: str | None) -> str:
    return (role or "").rpartition("/")[2]


def _importance(row: CompareRow) -> tuple[bool, int, int, bool, str]:
    kind, split = _kind(row.role), (row.role or "").partition("/")[0]
    is_layer = is_of_a_layer(row.name)
    return (
        is_layer,
        _ORDER.index(kind) if kind in _ORDER else len(_ORDER),
        _SPLITS.index(split) if split in _SPLITS else 0,
        row.before is None or row.after is None,
        "" if is_layer else row.name,  # layers stay in the order of the model
    )

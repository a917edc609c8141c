"""Pace: how long a step takes, from whatever a run logs about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.view import RunView
from .measures import curves_of
from .trends import HUGE, thinned

# fmt: off
_PARTS = frozenset({
    "forward", "backward", "fwd", "bwd", "data", "eval", "val", "valid", "validation", "test",
    "save", "saving",
    "checkpoint", "load", "loading", "total", "wall", "walltime", "eta", "remaining", "hours",
    "days", "maintenance", "optimizer", "optim", "allreduce", "all", "reduce", "recv", "send",
    "comm", "communication", "init", "sampling", "gather", "timing", "update", "learn",
    "learning", "current", "compile", "first", "max", "min", "std",
})
# fmt: on
"""Words that make a time a part of a step, or something other than a step."""
_STAMPS = 2048
"""Time stamps that are compared at most."""
_FINE = 10.0
"""Ticks of the clock between two compared stamps."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Relative duration of steps: the logarithm, so that factors are differences."""

    curve: Curve
    x: Floats
    slow: Floats
    kind: str
    """`rate`, `duration`, `total` (a running sum) or `stamps`."""

    def shown(self, level: float) -> str:
        """A level as the curve would show it."""
        value = np.exp(-level if self.kind == "rate" else level)
        unit = self.curve.series.unit
        if self.kind not in ("rate", "duration"):
            unit = f"{unit or 's'} per step"
        return f"{value:.4g}{' ' + unit if unit else ''}"

    @property
    def what(self) -> str:
        """What the pace was read from."""
        if self.kind == "stamps":
            return "time between the log's time stamps"
        return self.curve.name


def paces(view: RunView) -> list[Pace]:
    """The run's paces from its best kind of source, the primary one first."""
    rates = [_rate(curve) for curve in _usable(view, "throughput")]
    if found := [pace for pace in rates if pace is not None][:4]:
        return found
    durations = [_duration(curve) for curve in _usable(view, "step_time")]
    known = [pace for pace in durations if pace is not None]
    known.sort(key=lambda pace: pace.kind == "total")
    if known:
        return known[:4]
    stamped = _stamped(view)
    return [stamped] if stamped is not None else []


def is_running_sum(values: Floats) -> bool:
    """True for elapsed time: it never falls and gets far from its start."""
    if len(values) < 4:
        return False
    moves = np.diff(values)
    never_falls = float(np.mean(moves >= 0)) > 0.97 and float(np.mean(moves > 0)) > 0.6
    return never_falls and float(values[-1]) > 3.0 * max(float(values[0]), 0.0)


def is_part(name: str) -> bool:
    """True if a name speaks of a part of a step, or of no step at all."""
    words = normalise(name)
    parts = set(words.split()) & _PARTS
    if "step timing" in words:
        parts -= {"timing"}
    return bool(parts) and not ("elapsed time per" in words and parts <= {"eval"})


def _usable(view: RunView, role: str) -> list[Curve]:
    curves = [
        curve
        for curve in curves_of(view, role)
        if curve.series.rank in (None, 0) and not curve.is_interleaved and not is_part(curve.name)
    ]
    # The redraws of a bar say the same more often; they are worth it where its ends are few.
    ends = [curve for curve in curves if not curve.name.endswith(" (progress)")]
    live = ends if any(len(curve) >= 24 for curve in ends) else curves
    longest = max((len(curve) for curve in live), default=0)
    return [curve for curve in live if 3 * len(curve) >= longest]


def _rate(curve: Curve) -> Pace | None:
    x, y = thinned(curve)
    good = y > 0
    if good.sum() < 8 or good.mean() < 0.9 or is_running_sum(y[good]):
        return None
    return Pace(curve, x[good], -np.log(y[good]), "rate")


def _duration(curve: Curve) -> Pace | None:
    x, y = thinned(curve)
    if is_running_sum(y):
        return _from_sum(curve, x, y, "total")
    good = y > 0
    if good.sum() < 8 or good.mean() < 0.9:
        return None
    return Pace(curve, x[good], np.log(y[good]), "duration")


def _from_sum(curve: Curve, x: Floats, y: Floats, kind: str) -> Pace | None:
    steps, passed = np.diff(x), np.diff(y)
    good = (steps > 0) & (passed > 0)
    if good.sum() < 8 or good.mean() < 0.8:
        return None
    return Pace(curve, x[1:][good], np.log(passed[good] / steps[good]), kind)


def _stamped(view: RunView) -> Pace | None:
    """Time stamps of the lines with the training loss, far enough apart for their clock."""
    curve = view.curve("train/loss")
    if curve is None or len(curve) < 16 or curve.is_interleaved or curve.axis_name != "step":
        return None
    series = curve.series
    if "time" not in series.coordinates.axes:
        return None
    places = np.unique(np.linspace(0, len(curve) - 1, _STAMPS).astype(np.int64))
    rows = series.rows[[curve.raw_index(int(place)) for place in places]]
    times, x = series.coordinates.axis("time", rows), curve.x[places]
    good = np.isfinite(times) & (np.abs(times) < HUGE) & (np.abs(x) < HUGE)
    times, x = times[good], x[good]
    gaps = np.diff(times)
    if len(gaps) < 16 or not (gaps > 0).any() or (gaps < 0).any():
        return None
    stride = max(1, int(np.ceil(_FINE * _tick(times) / max(float(np.mean(gaps)), 1e-9))))
    if len(gaps) // stride < 16:
        return None
    return _from_sum(curve, x[::stride], times[::stride], "stamps")


def _tick(times: Floats) -> float:
    """The finest difference that the clock of some time stamps shows, in seconds."""
    for tick in (60.0, 1.0, 0.1, 0.01):
        left = np.mod(times, tick)
        if bool(np.all(np.minimum(left, tick - left) < 1e-3 * tick)):
            return tick
    return 0.001

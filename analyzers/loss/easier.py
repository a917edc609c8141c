"""Training that only gets easier while validation gets worse: what is learned is not new."""

from __future__ import annotations

import numpy as np

from ..core.finding import Evidence
from ..core.view import RunView
from .resumes import boundaries

_STRETCH = 5
"""Logged values whose median is a level."""
_RISE = 0.15
"""Share of what the loss won until then that something new takes back at least."""
_FASTER = 1.5
"""Times the loss falls as fast as before where what is shown is known."""


def only_fell(view: RunView, turned: float | None) -> Evidence | None:
    """The training loss of a run whose validation turned, if it went on to fall all the while.

    Another task, or other data, are not known yet: they cost more at first. What costs less from
    the first batch on has been seen.
    """
    train, val = view.curve("train/loss"), view.curve("val/loss")
    if train is None or val is None or turned is None or len(val) < 4:
        return None
    if train.spacing > val.spacing / 3:
        return None  # one value between two evaluations may hide a rise and its end
    begin = int(np.searchsorted(train.x, turned - 3 * val.spacing))
    end = int(np.searchsorted(train.x, turned + val.spacing, side="right"))
    before, near = train.y[max(0, begin - 2 * _STRETCH) : begin], train.y[begin:end]
    if len(before) < _STRETCH or len(near) < 2 * _STRETCH or not np.isfinite(train.y).all():
        return None
    level, first = float(np.median(before)), float(np.median(train.y[:3]))
    windows = np.lib.stride_tricks.sliding_window_view(near, _STRETCH)
    most = float(np.max(np.median(windows, axis=1)))
    spread = 1.4826 * float(np.median(np.abs(before - level)))
    if most > level + max(_RISE * (first - level), 2 * spread) or not near[-1] < level:
        return None
    return train.evidence(begin, end - 1)


def faster_since_resume(view: RunView, turned: float | None) -> tuple[Evidence, Evidence] | None:
    """A resume about where validation turned, since which the training loss falls faster."""
    train, val = view.curve("train/loss"), view.curve("val/loss")
    if train is None or val is None or turned is None:
        return None
    for boundary in boundaries(view, train):
        step = train.step(boundary.at)
        few = min(boundary.at, len(train) - boundary.at) // 2 * 2
        if few < 2 * _STRETCH or not -val.spacing <= step - turned <= 2 * val.spacing:
            continue
        parts = [train.y[boundary.at - few : boundary.at], train.y[boundary.at :][:few]]
        falls = [float(np.median(p[: few // 2]) - np.median(p[few // 2 :])) for p in parts]
        if falls[1] > max(_FASTER * falls[0], 0.0):
            return boundary.evidence[0], train.evidence(boundary.at, boundary.at + few - 1)
    return None

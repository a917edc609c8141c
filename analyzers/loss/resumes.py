"""Where a run was resumed, and what a curve was before."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.finding import Evidence
from ..core.view import PlacedEvent, RunView

REACH = 32
"""Points on each side that are compared."""
_STEP = re.compile(r"(?i)(?:step|iter(?:ation)?|checkpoint|ckpt)[s=_ :-]{0,3}(?P<step>\d{1,12})")
_LOADED = re.compile(r"(?i)\b(?:loaded|restored|resumed|loading|restoring) ")


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place in the loss curve where the run was resumed."""

    at: int
    before: Floats
    is_same_steps: bool
    """The values before are those of the branch that was given up, at the same steps."""
    evidence: tuple[Evidence, ...]


def boundaries(view: RunView, curve: Curve, least: int = 6) -> list[Boundary]:
    """Where the newest branch was resumed, by its counter, its file or its log."""
    found: dict[int, Boundary] = {}
    # One point stands for a whole epoch: a few of them show where the loss was going.
    room = 4
    if curve.axis_name == "epoch":
        least, room = min(least, 3), 2
    for restart in curve.restarts:
        if restart.at < least:
            continue
        # What the old branch did at the same steps is the fairest comparison.
        overlaps = len(restart.before) >= 6
        old = restart.before[:REACH] if overlaps else curve.y[: restart.at][-REACH:]
        said = curve.remark(
            f"the counter went back from {restart.reached:.10g} to {restart.resumed:.10g}"
        )
        found[restart.at] = Boundary(restart.at, old, overlaps, (said,))
    loaded = [e for e in view.events_of(EventKind.CHECKPOINT) if _LOADED.search(e.text)]
    for placed in (*view.events_of(EventKind.RESTART), *loaded):
        position = _position(view, curve, placed)
        is_inside = least <= position <= len(curve) - room
        if not is_inside or any(abs(position - at) <= 2 for at in found):
            continue
        before = curve.y[:position][-REACH:]
        found[position] = Boundary(position, before, False, (placed.evidence(),))
    return [found[at] for at in sorted(found)]


def _position(view: RunView, curve: Curve, placed: PlacedEvent) -> int:
    """Where in a curve a resume lies: by its line, or by the step that another file names."""
    if placed.source is view.run.files[curve.series.file]:
        return bisect_left(range(len(curve)), placed.event.line, key=curve.line)
    said = _STEP.search(placed.text)
    if said is None or curve.axis_name != "step":
        return -1
    return int(np.searchsorted(curve.x, float(said["step"]), side="right"))

"""Where a run was resumed, and what a curve was before."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.finding import Evidence
from ..core.view import RunView

REACH = 32
"""Points on each side that are compared."""


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
    for placed in view.events_of(EventKind.RESTART):
        if placed.source is not view.run.files[curve.series.file]:
            continue
        position = bisect_left(range(len(curve)), placed.event.line, key=curve.line)
        if not least <= position < len(curve) - 3 or any(abs(position - at) <= 2 for at in found):
            continue
        before = curve.y[:position][-REACH:]
        found[position] = Boundary(position, before, False, (placed.evidence(),))
    return [found[at] for at in sorted(found)]

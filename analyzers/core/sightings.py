"""How far a run was each time that it was looked at: a pace for logs without time stamps."""

from __future__ import annotations

import numpy as np

from mltd.runs.job_word import last_written
from mltd.runs.run import Run

MOST = 256


class Sightings:
    """Moments at which the log was written, and the last step in it then."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []

    def note(self, run: Run) -> None:
        """Take down where the run is now; one that was set back is watched anew."""
        written, step = last_written(run), last_logged(run, "step")
        if written is None or step is None:
            return
        if self.seen and step < self.seen[-1][1]:
            self.seen.clear()
        if self.seen and (step == self.seen[-1][1] or written <= self.seen[-1][0]):
            return
        self.seen.append((written, step))
        if len(self.seen) > MOST:
            del self.seen[1:-1:2]


def last_logged(run: Run, axis: str) -> float | None:
    """The place on an axis that any file of a run logged last."""
    ends = []
    for source in run.files:
        column = source.coordinates.axes.get(axis)
        if column is not None and len(column):
            ends.append(float(column.view()[-1]))
    return max((end for end in ends if np.isfinite(end)), default=None)

"""dataloader_bound: the devices wait for data during a good part of every step.

What it sees: data_time beside step_time in the same unit: more than 30 % of the step, in most
    steps after the first ones; a warning if it is more than half. Warnings of frameworks about
    too few workers alone are information.
Why it matters: faster devices or kernels change nothing while the input sets the pace.
Fires on:
    data_time: 0.3~0.01*100 ; step_time: 0.5~0.01*100
Stays quiet:
    data_time: 9.0 2.0 0.01~0.001*100 ; step_time: 9.5 2.5 0.5~0.01*100
    data_time: 200~5*100 ; step_time: 0.5~0.01*100
    data_time: 0.3 0.01*9 0.3 0.01*9 0.3 0.01*9 ; step_time: 0.8 0.5*9 0.8 0.5*9 0.8 0.5*9
Try next: more workers, prefetching, decoding ahead of time, local disks; a run on synthetic data
    shows how fast it could be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .measures import curves_of, seconds_of
from .messages import FEW_WORKERS, matching
from .pace import is_part, is_running_sum
from .trends import HUGE, level_edges

_TAIL = 4096


@analyzer
@dataclass(frozen=True, slots=True)
class DataloaderBound:
    """Compare the wait for data with the step that it is part of."""

    id: ClassVar[str] = "dataloader_bound"
    roles: ClassVar[tuple[str, ...]] = ("data_time", "step_time")
    events: ClassVar[tuple[str, ...]] = ("warning",)
    least_points: int = 20
    least_share: float = 0.3
    warning_share: float = 0.5
    """From here on waiting costs more than all that the step is for."""
    least_steps: float = 0.7
    """Share of the steps in which it must be so."""
    most_ratio: float = 20.0
    """Data time over step time beyond which the two cannot be in the same unit."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """The series decide; without them there are only warnings."""
        data = next((c for c in curves_of(view, "data_time") if c.series.rank in (None, 0)), None)
        if data is not None:
            found = self._compare(view, data)
            if found is not None:
                yield found
            return
        for placed in matching(view, FEW_WORKERS, EventKind.WARNING):
            yield Finding(
                id=self.id,
                title="the log warns about the number of data-loader workers; whether the input "
                "is the bottleneck is not logged",
                severity=Severity.INFO,
                confidence=finding_confidence(Basis.INFERENCE, 0.4),
                basis=Basis.INFERENCE,
                evidence=(placed.evidence(),),
            )
            return

    def _compare(self, view: RunView, data: Curve) -> Finding | None:
        for step in curves_of(view, "step_time"):
            same_file = step.series.coordinates is data.series.coordinates
            if not same_file or step.series.rank != data.series.rank or is_part(step.name):
                continue
            share = self._share(data, step)
            if share is None:
                continue
            begin = self._begin(share)
            if begin is None:
                return None
            later = share[begin:]
            usual = float(np.median(later))
            often = float(np.mean(later > 0.8 * self.least_share))
            if usual <= self.least_share or often < self.least_steps:
                return None
            return self._report(data, step, usual, often, len(later))
        return None

    def _begin(self, share: Floats) -> int | None:
        """Position from which on the steps wait, to the end; None if they do not."""
        skip = max(2, min(10, len(share) // 10))
        later = share[skip:]
        if len(later) < self.least_points:
            return None
        edges = level_edges(later, max(10, len(later) // 8))
        begin = len(later)
        for start, stop in reversed(list(pairwise(edges))):
            if float(np.median(later[start:stop])) <= self.least_share:
                break
            begin = start
        if len(later) - begin < max(self.least_points, len(later) // 8):
            return None
        return 0 if begin == 0 else skip + begin

    def _share(self, data: Curve, step: Curve) -> Floats | None:
        """Share of the step that passes in waiting, for the newest points that have both."""
        _, ours, theirs = np.intersect1d(
            data.series.rows[-_TAIL:], step.series.rows[-_TAIL:], return_indices=True
        )
        if len(ours) < self.least_points and data.axis_name == step.axis_name != "index":
            # Each on a line of its own: what has the same place belongs together.
            _, ours, theirs = np.intersect1d(
                data.series.axis(data.axis_name)[-_TAIL:],
                step.series.axis(step.axis_name)[-_TAIL:],
                return_indices=True,
            )
        if len(ours) < self.least_points:
            return None
        wait = data.series.values[-_TAIL:][ours] * seconds_of(data.series)
        whole = step.series.values[-_TAIL:][theirs] * seconds_of(step.series)
        good = (wait >= 0) & (wait < HUGE) & (whole > 1.0 / HUGE) & (whole < HUGE)
        wait, whole = wait[good], whole[good]
        if len(wait) < self.least_points or is_running_sum(whole) or is_running_sum(wait):
            return None
        ratio = float(np.median(wait / whole))
        if ratio > self.most_ratio or not np.isfinite(ratio):
            return None
        # A wait longer than the step is not part of it.
        return np.asarray(wait / whole if ratio <= 1.02 else wait / (wait + whole))

    def _report(self, data: Curve, step: Curve, usual: float, often: float, points: int) -> Finding:
        first = max(0, len(data) - points)
        return Finding(
            id=self.id,
            title=f"{usual:.0%} of each step passes waiting for data ({data.name} against "
            f"{step.name}, in {often:.0%} of the steps)",
            severity=Severity.WARNING if usual >= self.warning_share else Severity.INFO,
            confidence=finding_confidence(Basis.OBSERVATION, 0.82),
            basis=Basis.OBSERVATION,
            evidence=(
                data.evidence(first, len(data) - 1, f"median {_middle(data):.4g}"),
                step.evidence(
                    max(0, len(step) - points), len(step) - 1, f"median {_middle(step):.4g}"
                ),
            ),
            first_step=data.step(first),
            details={"share": usual},
        )


def _middle(curve: Curve) -> float:
    tail = curve.y[-_TAIL:]
    return float(np.median(tail[np.isfinite(tail)])) if np.isfinite(tail).any() else np.nan

"""memory_growth: memory in use rises step after step and does not level off.

What it sees: a memory series (device or process, per rank) whose values keep their order with
    the steps (rank correlation above 0.98), that grew by a tenth or more after the warm-up and
    still grows in its last third; when it will reach the limit, if that is known.
    Growth that ended the run is as grave as the error it led to, and began earlier.
Why it matters: a leak ends in an out-of-memory error hours later, far from its cause.
Fires on:
    rss_mb: 300 312 313>900~2*300
    gpu_mem: 10.0~0.05*200 10>16~0.05*200
Stays quiet:
    rss_mb: 300 700 900 1000~5*300
    gpu_mem: 10.0~0.3*400
    memory: 10>12*40 12.0~0.01*300
Try next: find what is kept: losses stored without `.item()` or `.detach()`, lists that grow,
    caches without a limit, workers that copy a large Python list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .measures import curves_of, is_host_memory, is_machine_memory
from .messages import lacks
from .trends import hinge, rank_correlation, thinned

_SIZE_UNIT = re.compile(r"[kKMGT]?i?B|[MG]|%")


@analyzer
@dataclass(frozen=True, slots=True)
class MemoryGrowth:
    """Report the memory series that grows most steadily; others as its evidence."""

    id: ClassVar[str] = "memory_growth"
    roles: ClassVar[tuple[str, ...]] = ("memory",)
    events: ClassVar[tuple[str, ...]] = ("oom",)
    least_points: int = 12
    few_points: int = 30
    """With fewer than this the growth must be large and almost without exception."""
    least_correlation: float = 0.98
    least_growth: float = 0.10
    """Share of the memory at the start of the growth."""
    least_late_share: float = 0.18
    """Part of the growth that falls into its last third; a third if it is even."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge every memory series on its own."""
        found = []
        for curve in curves_of(view, "memory"):
            if not is_machine_memory(curve.name):
                growth = self._growth(curve)
                if growth is not None and not _is_planned(view, growth.first, growth.last):
                    found.append(growth)
        if found:
            found.sort(key=lambda growth: -growth.correlation * min(growth.points, 200))
            yield self._report(view, found)

    def _growth(self, curve: Curve) -> _Growth | None:
        x, y = thinned(curve)
        if len(y) < self.least_points:
            return None
        # Loading, the first allocations and the first evaluation belong to the warm-up.
        skip = max(2, len(y) // 20)
        whole = x, y
        x, y = x[skip:], y[skip:]
        is_free = "free" in normalise(curve.name).split()
        used = -y if is_free else y
        begin = hinge(used)
        earlier, x, used = used[:begin], x[begin:], used[begin:]
        if len(used) < self.least_points:
            return None
        correlation = rank_correlation(used)
        is_few = len(used) < self.few_points
        needed = self.least_correlation + (0.015 if is_few else 0.01 if len(used) < 100 else 0.0)
        edge = max(1, len(used) // 20)
        low, high = float(np.median(used[:edge])), float(np.median(used[-edge:]))
        base = abs(low)
        if (
            correlation < needed
            or base <= 0
            or (high - low < self.least_growth * base * (3.0 if is_few else 1.0))
        ):
            return None
        if not self._goes_on(used, low, high) or _was_there_before(earlier, low, high):
            return None
        with np.errstate(over="ignore"):
            slope = (high - low) / max(float(x[-1] - x[0]), 1e-12)
        values = (-low, -high) if is_free else (low, high)
        begins = float(x[0])
        if begin == 0 and _reaches_back(whole, skip, slope, low, begins, is_free):
            begins = float(whole[0][0])
        return _Growth(curve, begins, float(x[-1]), *values, correlation, len(used), slope)

    def _goes_on(self, used: Floats, low: float, high: float) -> bool:
        """Caches that fill and allocators that warm up slow down; one jump is no growth."""
        thirds = np.array_split(used, 3)
        mark = float(np.median(thirds[2][: max(1, len(thirds[2]) // 10)]))
        late = (high - mark) / (high - low)
        moves = np.diff(np.array([float(np.median(part)) for part in np.array_split(used, 10)]))
        return late >= self.least_late_share and float(moves.max()) < 0.5 * (high - low)

    def _report(self, view: RunView, found: list[_Growth]) -> Finding:
        best = found[0]
        curve = best.curve
        unit = f" {curve.series.unit}" if _SIZE_UNIT.fullmatch(curve.series.unit) else ""
        share = abs(best.high - best.low) / abs(best.low)
        title = (
            f"{curve.name} {'fell' if best.high < best.low else 'rose'} steadily from "
            f"{best.low:.4g} to {best.high:.4g}{unit} ({share:+.0%}) between {curve.axis_name} "
            f"{best.first:.10g} and {best.last:.10g}"
        ).replace("(+", "(")
        left = self._steps_left(view, best)
        if left is not None:
            title += f"; at this rate it is full in about {left:.3g} {curve.axis_name}s"
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.CRITICAL if _has_run_out(view, best) else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.83),
            basis=Basis.OBSERVATION,
            evidence=tuple(growth.evidence for growth in found[:3]),
            first_step=best.first,
            details={
                "slope": best.slope,
                "share": share,
                "series": float(len(found)),
                "is_host": float(is_host_memory(curve.name)),
                **({"steps_left": left} if left is not None else {}),
            },
        )

    def _steps_left(self, view: RunView, growth: _Growth) -> float | None:
        """Steps until the limit is reached, where the log says what the limit is."""
        if growth.slope <= 0 or lacks(view, "device") or lacks(view, "host"):
            return None
        room: float | None = None
        if growth.high < growth.low:
            room = growth.high
        elif growth.curve.series.unit == "%" or "%" in growth.curve.name:
            room = 100.0 - growth.high
        return room / growth.slope if room is not None and room > 0 else None


@dataclass(frozen=True, slots=True)
class _Growth:
    """One series that grows."""

    curve: Curve
    first: float
    last: float
    low: float
    high: float
    correlation: float
    points: int
    slope: float

    @property
    def evidence(self) -> Evidence:
        """The stretch that grows."""
        at = np.searchsorted(self.curve.x, [self.first, self.last])
        first, last = (min(int(place), len(self.curve) - 1) for place in at)
        quote = f"{self.low:.4g} -> {self.high:.4g}, rank correlation {self.correlation:.3f}"
        return self.curve.evidence(first, last, quote)


def _has_run_out(view: RunView, growth: _Growth) -> bool:
    """It rose until the run was ended for want of this very memory."""
    kind = "host" if is_host_memory(growth.curve.name) else "device"
    until_the_end = growth.last >= growth.curve.step(len(growth.curve) - 1) - growth.curve.spacing
    return until_the_end and any(not lack.is_overcome for lack in lacks(view, kind))


def _was_there_before(earlier: Floats, low: float, high: float) -> bool:
    """Memory that comes and goes (a collector, an epoch) rises without growing."""
    return len(earlier) > 0 and float(np.quantile(earlier, 0.95)) > low + 0.3 * (high - low)


def _reaches_back(
    whole: tuple[Floats, Floats], skip: int, slope: float, low: float, at: float, is_free: bool
) -> bool:
    """The points of the warm-up lie on the same line, so the growth began with the run."""
    x, y = whole[0][:skip], whole[1][:skip]
    used = -y if is_free else y
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(used - (low - slope * (at - x)))
        return bool(np.median(off) <= 0.7 * slope * max(float(at - x[0]), 1e-12))


def _is_planned(view: RunView, first: float, last: float) -> bool:
    """Longer sequences or larger batches take more memory, step by step."""
    return sum(first <= change.step <= last for change in view.facts.changes) >= 2

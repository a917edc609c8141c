"""straggler: one rank takes longer than the others, and all wait for it.

What it sees: step times or throughput logged per rank, in one file or one for each;
    the median of one rank at least 15 % above that of all (30 % where there are only two), in
    almost every part of the run.
Why it matters: in synchronous training the slowest rank sets the pace of all.
Fires on:
    step_time_rank0: 0.5~0.01*100 ; step_time_rank1: 0.5~0.01*100 ; step_time_rank2: 0.8~0.01*100
    fwd_bwd_rank0: 0.15~0.002*40 ; fwd_bwd_rank1: 0.15~0.002*40 ; fwd_bwd_rank2: 0.3~0.004*40
Stays quiet:
    step_time_rank0: 0.5~0.01*100 ; step_time_rank1: 0.5~0.01*100 ; step_time_rank2: 0.52~0.01*100
    step_time_rank0: 0.5~0.3*100 ; step_time_rank1: 0.5~0.3*100 ; step_time_rank2: 0.55~0.3*100
    allreduce_wait_time_rank0: 0.15~0.01*40 ; allreduce_wait_time_rank1: 0.004~0.001*40
Try next: swap the node of that rank; look at clocks, temperature and Xid messages of its device,
    and at how much data it gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise
from mltd.runs.series import Series

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .pace import is_running_sum
from .trends import thinned

_RANK = re.compile(r"\b(?:rank|gpu|worker|node|device|proc) ?(\d+)\b")
_FILE_OF_RANK = re.compile(r"(?:rank|worker|gpu)[-_.]?(\d{1,6})(?![\d])[^/\\]*$", re.IGNORECASE)
"""A file of its own for each rank: `rank_2.log`, `train_globalrank-3_localrank-1.txt`."""
_TIME = re.compile(r"\btime\b|\bstep (?:ms|sec|s)\b|\bms\b|\bseconds\b|\bduration\b")
_RATE = re.compile(
    r"throughput|per sec|\btps\b|\bwps\b|(?:tokens|samples|it|steps|imgs?) s\b|tflops"
)
_NO_STEP = re.compile(r"\b(?:eval|val|valid|test|total|elapsed|eta|wall|util\w*|temp\w*)\b")
_WAITING = re.compile(r"\b(?:wait\w*|idle|barrier|sync\w*|all ?reduce|comm\w*|bubble)\b")
"""Time in which the fast ranks wait for the slow one: who has most of it holds up nobody."""
_PARTS = 5
"""Parts of the run that are looked at,"""
_LAST = 2
"""and how many of the last ones the rank must be slow in."""


@analyzer
@dataclass(frozen=True, slots=True)
class Straggler:
    """Report the slowest rank if it is slow all along."""

    id: ClassVar[str] = "straggler"
    roles: ClassVar[tuple[str, ...]] = ("step_time", "throughput")
    events: ClassVar[tuple[str, ...]] = ()
    least_points: int = 15
    least_factor: float = 1.15
    least_factor_of_two: float = 1.3

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Compare the ranks of each measure that is logged for several."""
        groups: dict[str, dict[int, Curve]] = {}
        for series in view.series:
            if len(series) < self.least_points:
                continue
            if (named := _measure(series, view.run.files[series.file].path)) is not None:
                groups.setdefault(named[0], {}).setdefault(named[1], view.curve_of(series))
        found = [self._slowest(name, ranks) for name, ranks in groups.items() if len(ranks) >= 2]
        known = [finding for finding in found if finding is not None]
        if known:
            yield max(known, key=lambda finding: finding.number("factor"))

    def _slowest(self, name: str, ranks: dict[int, Curve]) -> Finding | None:
        is_rate = bool(_RATE.search(name))
        parts: dict[int, list[float]] = {}
        for rank, curve in ranks.items():
            _, y = thinned(curve)
            y = y[y > 0]
            if len(y) < self.least_points or is_running_sum(y):
                continue
            slow = -np.log(y) if is_rate else np.log(y)
            slow = slow[len(slow) // 10 :]
            parts[rank] = [float(np.median(part)) for part in np.array_split(slow, _PARTS)]
        if len(parts) < 2:
            return None
        table = np.array(list(parts.values()))
        if len(parts) == 2:
            usual, needed = table.min(axis=0), np.log(self.least_factor_of_two)
        else:
            usual, needed = np.median(table, axis=0), np.log(self.least_factor)
        behind = table - usual
        # It may have begun in the middle, but must last.
        lately = behind[:, -_LAST:]
        worst = int(np.argmax(lately.min(axis=1)))
        excess = float(lately[worst].min())
        late = behind[worst] > 0.6 * needed
        others = np.delete(behind, worst, axis=0)
        wobble = float(np.median(np.abs(others))) if len(parts) > 2 else 0.0
        if excess < max(needed, 4.0 * wobble) or not late[-_LAST:].all():
            return None
        rank = list(parts)[worst]
        return self._report(name, ranks, rank, float(np.exp(min(excess, 50.0))), late)

    @staticmethod
    def _begins(curve: Curve, ranks: dict[int, Curve], rank: int, part: int) -> int:
        """The first point of the part before from which on it is behind the others."""
        if part == 0:
            return 0
        first = (part - 1) * len(curve) // _PARTS
        places = np.asarray(curve.x[first:][:4096])
        others = [_pace(other, places) for number, other in ranks.items() if number != rank]
        ratio = _pace(curve, places) / np.median(np.stack(others), axis=0)
        late = float(np.median(ratio[-max(8, len(ratio) // 2) :]))
        calm = np.flatnonzero(np.abs(np.log(ratio)) < 0.5 * abs(np.log(late)))
        return first + (int(calm[-1]) + 1 if len(calm) and calm[-1] + 1 < len(ratio) else 0)

    def _report(
        self,
        name: str,
        ranks: dict[int, Curve],
        rank: int,
        factor: float,
        late: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> Finding:
        curve = ranks[rank]
        medians = {number: _middle(other) for number, other in ranks.items()}
        usual = float(np.median([m for n, m in medians.items() if n != rank]))
        part = 0 if late.all() else int(np.flatnonzero(~late)[-1]) + 1
        start = self._begins(curve, ranks, rank, part)
        return Finding(
            id=self.id,
            title=f"rank {rank} is slower than the other {len(ranks) - 1}: {name} "
            f"{medians[rank]:.4g} against {usual:.4g}, {factor:.2f} times as long",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.82),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(start, len(curve) - 1, f"median {medians[rank]:.4g}"),
                *(
                    other.remark(f"median {medians[number]:.4g}")
                    for number, other in list(ranks.items())[:3]
                    if number != rank
                ),
            ),
            first_step=curve.step(start),
            details={"rank": float(rank), "factor": factor, "ranks": float(len(ranks))},
        )


def _pace(curve: Curve, places: Floats) -> Floats:
    """What a rank took at some steps."""
    at = np.clip(np.searchsorted(curve.x, places), 0, len(curve) - 1)
    return np.asarray(curve.y[at])


def _middle(curve: Curve) -> float:
    _, values = thinned(curve)
    return float(np.median(values)) if len(values) else np.nan


def _measure(series: Series, path: str) -> tuple[str, int] | None:
    """The measure and the rank that a series is of, if it is one of pace."""
    words = normalise(series.name)
    found = _RANK.search(words) or _FILE_OF_RANK.search(path)
    rank = series.rank if series.rank is not None else int(found[1][:6]) if found else None
    if rank is None or _NO_STEP.search(words) or _WAITING.search(words):
        return None
    is_time = series.unit in ("ms", "s", "us", "sec", "msec") or _TIME.search(words)
    if series.role not in ("step_time", "throughput") and not (is_time or _RATE.search(words)):
        return None
    return " ".join(_RANK.sub(" ", words).split()), rank

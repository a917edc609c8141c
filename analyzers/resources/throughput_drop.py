"""throughput_drop: steps take longer than before, and it stays that way.

What it sees: throughput, step time, elapsed time or the log's own time stamps; a change of level
    located by cumulative sums, or an even slow-down over the whole run. How much is too much
    depends on the run: six robust deviations of its own steps, at least 5 %.
Why it matters: every hour after it costs more than it should; one slow device, a slow disk or a
    growing list holds up the whole job.
Fires on:
    step_time: 0.5~0.01*200 0.9~0.01*200
    tokens_per_sec: 1000~20*200 700~20*200
    step_time: 0.20>0.40~0.005*300
    tokens_per_sec: 1000~20*170 1000>450~20*30 450~10*100
    train_step_timing: 1.2~0.01*130 2.3~0.02*120
Stays quiet:
    step_time: 9.0 3.0 0.5~0.01*400
    step_time: 0.5~0.2*400
    step_time: 0.5~0.01*50 5.0 0.5~0.01*50 5.2 0.5~0.01*50 4.9 0.5~0.01*50
Try next: compare data_time, memory and the clocks of the devices before and after; look for
    neighbours on the node and for lists that grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .measures import seconds_of
from .pace import Pace, paces
from .trends import floor_filtered, hinge, level_edges, rank_correlation, spread


@dataclass(frozen=True, slots=True)
class _Drop:
    """A slower stretch, by positions in the pace."""

    pace: Pace
    start: int
    stop: int
    before: float
    after: float
    noise: float = 0.0
    is_gradual: bool = False
    is_staged: bool = False

    @property
    def seconds(self) -> float:
        """How long the slower stretch took, infinite where the log does not tell."""
        if self.pace.kind == "rate":
            return np.inf
        x = self.pace.x
        steps = float(x[self.stop - 1] - x[self.start]) if self.stop > self.start else 0.0
        if self.pace.curve.axis_name != "step":
            steps = float(self.stop - self.start)
        per_step = float(np.exp(min(self.after, 300.0)))
        return steps * per_step * seconds_of(self.pace.curve.series)

    @property
    def factor(self) -> float:
        """How many times longer a step takes."""
        return float(np.exp(min(self.after - self.before, 50.0)))


@analyzer
@dataclass(frozen=True, slots=True)
class ThroughputDrop:
    """Report the largest lasting drop."""

    id: ClassVar[str] = "throughput_drop"
    roles: ClassVar[tuple[str, ...]] = ("throughput", "step_time")
    events: ClassVar[tuple[str, ...]] = ()
    least_points: int = 16
    least_factor: float = 1.05
    warning_factor: float = 1.25
    steady_factor: float = 1.12
    """The same where the steps are so even that it is twice as clear as it must be."""
    deviations: float = 6.0
    least_seconds: float = 0.5
    """Clocks of processors change for longer than a shorter stretch takes."""
    most_needed: float = 0.4
    """Logarithm of the factor (1.5) that counts however noisy single steps are."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Ask the paces; they must not contradict each other."""
        found = [(pace, self._drop(pace)) for pace in paces(view)]
        drops = [drop for _, drop in found if drop is not None]
        if not drops or any(self._contradicts(pace, drops[0]) for pace, drop in found if not drop):
            return
        drop = max(drops, key=lambda one: one.factor)
        step = float(drop.pace.x[drop.start])
        if self._is_planned(view, drop, step):
            return
        yield self._report(view, drop, step)

    def _drop(self, pace: Pace) -> _Drop | None:
        # The first steps compile, fill caches and wait for the first batch.
        skip = max(2, min(10, len(pace.slow) // 8))
        slow = pace.slow[skip:]
        if len(slow) < self.least_points:
            return None
        smooth = floor_filtered(slow, 5 if len(slow) < 200 else 9)
        least = max(5, min(20, len(slow) // 6))
        gradual = self._gradual(pace, skip, slow)
        if gradual is not None:
            return gradual
        edges = level_edges(smooth, least)
        levels = [float(np.median(smooth[a:b])) for a, b in pairwise(edges)]
        return self._step(pace, skip, slow, edges, levels)

    def _step(
        self, pace: Pace, skip: int, slow: Floats, edges: list[int], levels: list[float]
    ) -> _Drop | None:
        """The slower stretch that lasts longest, from the first level that is slow enough."""
        found: list[_Drop] = []
        for number in range(1, len(levels)):
            fastest = min(range(number), key=levels.__getitem__)
            rise = levels[number] - levels[fastest]
            end = number + 1
            while end < len(levels) and levels[end] - levels[fastest] > 0.5 * rise:
                end += 1
            before = slow[edges[fastest] : edges[fastest + 1]]
            after = slow[edges[number] : edges[end]]
            base, level = _floor(before), _floor(after)
            shift = level - base
            needed = self._needed(before, after, len(slow))
            if shift < needed or self._is_settling(before, shift) or _overlap(before, after):
                continue
            start = skip + self._onset(slow, edges[number], base, shift)
            noise = max(_unevenness(before), _unevenness(after))
            holds = [not _is_moving(slow[a:b]) for a, b in pairwise(edges)]
            kept = [level for level, held in zip(levels, holds, strict=True) if held]
            staged = len(slow) >= 60 and self._is_staged(kept)
            found.append(
                _Drop(pace, start, skip + edges[end], base, level, noise, is_staged=staged)
            )
        return max(found, key=lambda drop: (drop.stop - drop.start, drop.factor), default=None)

    def _is_staged(self, levels: list[float]) -> bool:
        """Two rises or more, each to a level that holds: a plan, such as ever longer sequences."""
        rises = [after - before for before, after in pairwise(levels)]
        return sum(rise > 0.14 for rise in rises) >= 2 and min(rises) > -0.14

    def _needed(self, before: Floats, after: Floats, count: int) -> float:
        noise = max(_unevenness(before), _unevenness(after))
        slow_noise = max(_drift(before), _drift(after))
        is_long = count >= 60
        least = np.log(self.least_factor if is_long else 1.3)
        wanted = min(self.deviations * noise, self.most_needed * (1.0 if is_long else 1.6))
        return float(max(least, wanted, 4.0 * slow_noise))

    def _is_settling(self, before: Floats, shift: float) -> bool:
        """A pace that was still moving has no level to fall from (running averages do that)."""
        half = len(before) // 2
        return abs(float(np.median(before[:half]) - np.median(before[half:]))) > 0.4 * shift

    def _onset(self, slow: Floats, edge: int, level: float, shift: float) -> int:
        """The place near the edge that parts fast points from slow ones best."""
        first, last = max(0, edge - 10), min(len(slow), edge + 10)
        beyond = slow[first:last] > level + 0.5 * shift
        early = np.concatenate([[0], np.cumsum(beyond)])
        late = np.concatenate([[0], np.cumsum(~beyond)])
        wrong = early + late[-1] - late
        return min(first + int(np.argmin(wrong)), len(slow) - 1)

    def _gradual(self, pace: Pace, skip: int, slow: Floats) -> _Drop | None:
        if len(slow) < 60:
            return None
        blocks = np.array([float(np.median(part)) for part in np.array_split(slow, 20)])
        begin = hinge(blocks)
        rest = blocks[begin:]
        if len(rest) < 8 or rank_correlation(rest) < 0.9:
            return None
        order = np.arange(len(rest), dtype=np.float64)
        fit = np.polyval(np.polyfit(order, rest, 1), order)
        growth = float(fit[-1] - fit[0])
        wiggle = float(np.sqrt(np.mean((rest - fit) ** 2)))
        moves = np.diff(rest)
        if growth < max(np.log(1.2), 6.0 * wiggle) or float(moves.max()) > 0.35 * growth:
            return None
        start = skip + begin * len(slow) // 20
        return _Drop(pace, start, skip + len(slow), float(fit[0]), float(fit[-1]), is_gradual=True)

    def _contradicts(self, pace: Pace, drop: _Drop) -> bool:
        """Another measure of the same steps that saw nothing."""
        at = float(drop.pace.x[drop.start])
        before, after = pace.slow[pace.x < at], pace.slow[pace.x >= at]
        if len(before) < 8 or len(after) < 8:
            return False
        shift = float(np.median(after) - np.median(before[len(before) // 8 :]))
        return shift < 0.3 * (drop.after - drop.before)

    def _is_planned(self, view: RunView, drop: _Drop, step: float) -> bool:
        """A larger batch or longer sequences take longer by right."""
        width = 3.0 * float(np.median(np.diff(drop.pace.x))) if len(drop.pace.x) > 1 else 1.0
        until = float(drop.pace.x[drop.stop - 1]) if drop.is_gradual else step
        return any(step - width <= c.step <= until + width for c in view.facts.changes)

    def _report(self, view: RunView, drop: _Drop, step: float) -> Finding:
        pace, axis = drop.pace, drop.pace.curve.axis_name
        has_recovered = drop.stop < len(pace.x) and not drop.is_gradual
        last = float(pace.x[drop.stop - 1])
        share = (drop.stop - drop.start) / len(pace.x)
        is_small = drop.factor < self.warning_factor and (
            drop.factor < self.steady_factor
            or drop.after - drop.before < 2.0 * self.deviations * drop.noise
        )
        is_short = has_recovered or share < 0.08 or drop.seconds < self.least_seconds
        # Environments slow down as the agent learns to stay in them longer.
        is_learning = drop.is_gradual and (not view.facts.is_monotone or pace.kind == "total")
        is_info = is_small or is_short or is_learning or drop.is_staged
        resumed = any(
            abs(restart.resumed - step) <= 3 * pace.curve.spacing for restart in pace.curve.restarts
        )
        how = "slowed down evenly" if drop.is_gradual else "slowed down"
        title = (
            f"steps {how}, {drop.factor:.2f} times as long: {pace.what} "
            f"{pace.shown(drop.before)} -> {pace.shown(drop.after)} from {axis} {step:.10g} on"
        )
        if has_recovered:
            title += f" until {last:.10g}"
        raw = 0.8 if drop.factor >= 1.3 else 0.7
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.INFO if is_info or resumed else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, raw),
            basis=Basis.OBSERVATION,
            evidence=(_evidence(drop),),
            first_step=step,
            last_step=last if has_recovered else None,
            details={"factor": drop.factor, "gradual": float(drop.is_gradual), "kind": pace.kind},
        )


def _floor(values: Floats) -> float:
    """The level of the undisturbed steps."""
    return float(np.quantile(values, 0.3))


def _unevenness(values: Floats) -> float:
    """Deviation of the faster half; neighbours and pauses only ever make steps slower."""
    low, middle = np.quantile(values, [0.1, 0.5])
    return float(middle - low) / 1.2816


def _is_moving(values: Floats) -> bool:
    """True for the way from one level to another, which is none itself."""
    third = max(1, len(values) // 3)
    way = abs(float(np.median(values[-third:]) - np.median(values[:third])))
    return way > 0.14 and abs(rank_correlation(values)) > 0.8


def _overlap(before: Floats, after: Floats) -> bool:
    """Neighbours on the machine slow down many steps, but leave some as fast as ever."""
    edge = min(3, len(after) // 8)
    usual = float(np.median(before))
    rise = float(np.median(after)) - usual
    return float(np.quantile(after[edge:], 0.15)) < usual + 0.25 * rise


def _drift(values: Floats) -> float:
    """Deviation of the fast steps of each tenth: slow changes that are no change of level."""
    if len(values) < 40:
        return 0.0
    parts = np.array_split(values, 10 if len(values) >= 80 else 5)
    return spread(np.array([_floor(part) for part in parts]))


def _evidence(drop: _Drop) -> Evidence:
    curve, pace = drop.pace.curve, drop.pace
    places = np.searchsorted(curve.x, [pace.x[drop.start], pace.x[drop.stop - 1]])
    first, last = (min(int(place), len(curve) - 1) for place in places)
    quote = f"{pace.what}: {pace.shown(drop.before)} before, {pace.shown(drop.after)} since"
    return curve.evidence(first, last, quote)

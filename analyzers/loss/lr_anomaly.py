"""lr_anomaly: the learning rate does something that no schedule means to do.

What it sees: a jump upwards by more than half between two logged values, outside of warm-up and
    cycles; a rate that is practically 0 long before the planned end while the loss is still high;
    a warm-up that is as long as the whole run, with a loss that has not moved; a rate that was
    held and then grows tenfold and more by the same factor, up to the end; a second warm-up far
    beyond the first peak; a rate that is negative or not a number.
Why it matters: a jump throws the weights out of their valley; a rate of 0 ends the training while
    the job goes on.
Fires on:
    train/loss: 2>1~0.01*200 ; lr: 0.001*100 0.01*100
    train/loss: 2>1.5~0.01*50 1.5~0.01*150 ; lr: 0.01>1e-6*50 1e-6*150
    train/loss: 2.6>2.3~0.5*20 2.3~0.5*180 ; lr: 0.01>1e-6*50 1e-6*150
    train/loss: 1.39~0.02*125 ; lr: 1e-8>3e-6*125 ; config: max_steps=125
    train/loss: 2>1~0.05*100 ; lr: 4e-4>4e-3*10 4e-3>1.7e-3*50 2.4e-3>0.024*10 0.024>0.018*30
Stays quiet:
    train/loss: 2>1~0.05*100 ; lr: 4e-4>4e-3*10 4e-3>1e-4*40 4e-4>4e-3*10 4e-3>1e-4*40
    train/loss: 1.39~0.02*125 ; lr: 1e-8>3e-6*125 ; config: max_steps=5000
    train/loss: 1.39>0.9~0.02*125 ; lr: 1e-8>3e-6*125 ; config: max_steps=125
    train/loss: 2>1~0.01*200 ; lr: 0.0>0.01*20 0.01>0.0001*180
    train/loss: 2>1~0.01*200 ; lr: 0.1*100 0.01*50 0.001*50
Try next: plot lr against progress; check whether the scheduler is stepped per epoch or per step,
    and whether its state is restored on resume.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .creeping import creeps_up
from .levels import begins_at_start, shape_of
from .resumes import boundaries
from .rewarming import warms_up_again
from .warming import never_arrived

_RAMP = 0.15
"""Share of the run in which a first rise is a warm-up."""


@analyzer
@dataclass(frozen=True, slots=True)
class LearningRateAnomaly:
    """Reads the schedule off the logged rate."""

    id: ClassVar[str] = "lr_anomaly"
    roles: ClassVar[tuple[str, ...]] = ("lr", "train/loss")
    events: ClassVar[tuple[str, ...]] = ()
    jump: float = 2.0
    over: float = 0.01
    """Share of the peak below which the rate is as good as 0."""
    early: float = 0.6
    """Share of the planned steps before which that is too early."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge the primary rate."""
        curve = view.curve("lr")
        if curve is None or not self._is_schedule(view, curve):
            return
        _, _, _, lowest, _, counts = curve.bins
        if int(counts.sum()) < len(curve) or np.any(lowest < 0):
            bad = ~np.isfinite(curve.y) | (curve.y < 0)
            yield self._impossible(curve, int(np.argmax(bad)))
            return
        yield from self._restarts(view, curve)
        yield from self._jumps(view, curve)
        yield from self._ends_early(view, curve)
        yield from never_arrived(view, curve, self.id)
        yield from creeps_up(curve, self.id)
        yield from warms_up_again(curve, self.id)

    def _is_schedule(self, view: RunView, curve: Curve) -> bool:
        """A few numbers called lr may be settings or source code; a schedule goes with the run."""
        if len(curve) < 4 or curve.axis_name == "index" or curve.is_interleaved:
            return False
        losses = [c for r in ("train/loss", "val/loss") if (c := view.curve(r)) is not None]
        if not losses:
            return len(curve) >= 16
        end = max(float(loss.x[-1]) for loss in losses if len(loss))
        is_long = len(curve) >= 16 or len(curve) >= 0.5 * len(losses[0])
        return is_long and float(curve.x[-1]) >= 0.5 * end

    def _impossible(self, curve: Curve, at: int) -> Finding:
        return Finding(
            id=self.id,
            title=f"{curve.name} is {curve.y[at]:.4g} at {curve.axis_name} {curve.step(at):.10g}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(at),),
            first_step=curve.step(at),
            details={"kind": "impossible"},
        )

    def _restarts(self, view: RunView, curve: Curve) -> Iterator[Finding]:
        """A resumed run must go on with the rate that it had at that step."""
        for boundary in boundaries(view, curve, least=3):
            at = boundary.at
            if at >= len(curve) or len(boundary.before) == 0:
                continue
            before = float(boundary.before[0 if boundary.is_same_steps else -1])
            # The first values may still be those of a new warm-up.
            now = float(curve.y[at : at + 4].max())
            if before <= 0 or 0.67 < now / before < 1.5:
                continue
            yield Finding(
                id=self.id,
                title=f"{curve.name} was {before:.4g} and is {now:.4g} after the run was resumed "
                f"at {curve.axis_name} {curve.step(at):.10g}",
                severity=Severity.WARNING,
                confidence=finding_confidence(Basis.OBSERVATION, 0.92),
                basis=Basis.OBSERVATION,
                evidence=(
                    curve.evidence(at, None, f"{before:.4g} -> {now:.4g}"),
                    *boundary.evidence,
                ),
                first_step=curve.step(at),
                details={"kind": "resume", "factor": now / before},
            )
            return

    def _jumps(self, view: RunView, curve: Curve) -> Iterator[Finding]:
        _, _, _, lowest, highest, _ = curve.bins
        bases = np.minimum(lowest, np.concatenate([lowest[:1], lowest[:-1]]))
        leaps = np.flatnonzero(highest > self.jump * bases)
        if len(leaps) == 0 or _is_ramp(lowest, highest, int(leaps[-1]) + 1):
            return
        rates = curve.y
        peak = float(rates.max())
        before, after = rates[:-1], rates[1:]
        up = (after > self.jump * before) & (before > 0) & (after > 0.1 * peak)
        warm = view.facts.warmup_until
        if warm is not None:
            # A warm-up in few logged points looks like jumps, and is none; after a long level it
            # is one only if the loss does not mind.
            late = curve.x[1:] > warm
            settled = [self._is_settled(rates, p) for p in (np.flatnonzero(up) + 1).tolist()]
            late[np.flatnonzero(up)] |= np.array(settled, dtype=bool)
            up &= late
        places = np.flatnonzero(up) + 1
        # The first rise is a warm-up, also where a later jump goes higher.
        falls = np.flatnonzero(np.diff(rates) < 0)
        ramp = min(int(falls[0]) if len(falls) else len(rates), int(_RAMP * len(rates)))
        places = places[places > ramp]
        restarted = {r.at for r in curve.restarts}
        places = np.array([p for p in places.tolist() if p not in restarted], dtype=int)
        if len(places) == 0 or len(places) > max(3, len(rates) // 20):
            return
        is_new = not view.facts.is_cyclic or self._is_single(rates, places)
        if not is_new:
            return
        at = int(places[0])
        factor = rates[at] / rates[at - 1]
        hurts = self._loss_reacts(view, curve.step(at))
        is_warm = warm is not None and curve.x[at] <= warm
        if (is_warm or rates[at - 1] < 0.02 * peak) and not hurts:
            return  # a warm-up at a constant low rate ends so
        yield Finding(
            id=self.id,
            title=f"{curve.name} jumped {factor:.3g}x, from {rates[at - 1]:.4g} to "
            f"{rates[at]:.4g}, at {curve.axis_name} {curve.step(at):.10g}",
            severity=Severity.WARNING if hurts or is_new else Severity.INFO,
            confidence=finding_confidence(Basis.OBSERVATION, 0.92 if hurts else 0.8),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(at - 1, at),),
            first_step=curve.step(at),
            details={"kind": "jump", "factor": float(factor), "hurts": float(hurts)},
        )

    @staticmethod
    def _is_settled(rates: np.ndarray[tuple[int], np.dtype[np.float64]], at: int) -> bool:
        """The rate had stayed at one level for many points."""
        before = rates[max(0, at - 10) : at]
        return len(before) == 10 and float(np.ptp(before)) == 0.0

    def _is_single(
        self,
        rates: np.ndarray[tuple[int], np.dtype[np.float64]],
        places: np.ndarray[tuple[int], np.dtype[np.int64]],
    ) -> bool:
        """One jump that goes higher than the rate had ever been is no restart of a cycle."""
        at = int(places[0])
        return len(places) == 1 and float(rates[at]) > 1.5 * float(rates[:at].max())

    def _loss_reacts(self, view: RunView, step: float) -> bool:
        loss = view.curve("train/loss")
        if loss is None or len(loss) < 8:
            return False
        at = int(np.searchsorted(loss.x, step))
        before, after = loss.y[max(0, at - 20) : at], loss.y[at : at + 20]
        if len(before) < 5 or len(after) < 3:
            return False
        if not np.isfinite(after).all():
            return True
        if min(len(before), len(after)) >= 10 and np.median(after) > np.max(before[-10:]):
            return True  # by little, but for good
        spread = 1.4826 * np.median(np.abs(before - np.median(before)))
        return bool(np.max(after) > np.median(before) + 8 * max(spread, 1e-12))

    def _ends_early(self, view: RunView, curve: Curve) -> Iterator[Finding]:
        loss = view.curve("train/loss")
        shape = shape_of(loss) if loss is not None else None
        if loss is None or shape is None or not begins_at_start(curve) or view.facts.is_cyclic:
            return
        peak = float(curve.y.max())
        dead = curve.y < self.over * peak
        if peak <= 0 or not dead[-1]:
            return
        since = len(dead) - int(np.argmin(dead[::-1])) if not dead.all() else 0
        end = max(float(curve.x[-1]), view.planned_steps or 0.0)
        step = curve.step(since)
        if step > self.early * end or len(curve) - since < 8:
            return
        later = shape.levels[shape.starts >= step]
        half = len(later) // 2
        if half < 2:
            return
        # A noisy loss is flat if its halves agree, not its first and last windows.
        moved = abs(float(np.median(later[:half]) - np.median(later[half:])))
        is_flat = moved < max(0.1 * abs(float(later[0])), 3 * shape.error)
        if not is_flat or shape.last < 0.25 * shape.first:
            return
        yield Finding(
            id=self.id,
            title=f"{curve.name} is below {100 * self.over:g} % of its peak {peak:.4g} since "
            f"{curve.axis_name} {step:.10g} of {end:.10g}, with {loss.name} still at "
            f"{shape.last:.4g}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(since, len(curve) - 1), loss.evidence(len(loss) - 1)),
            first_step=step,
            details={"kind": "early_end"},
        )


def _is_ramp(lowest: Floats, highest: Floats, count: int) -> bool:
    """Nothing but a rise in so many bins at the very beginning: a warm-up."""
    is_early = count <= _RAMP * len(lowest)
    return is_early and bool(
        np.all(np.diff(lowest[:count]) >= 0) and np.all(np.diff(highest[:count]) >= 0)
    )

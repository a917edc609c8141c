"""loss_spike: the training loss jumps far above its recent range.

What it sees: at least three of five points more than six robust deviations above the median of
    the 128 points before, or one point that stands out by far more than the whole fall so far and
    from all that came before it; among a few points, such as one per epoch, one that takes back a
    good part of what was won while nothing else goes up nearly as far; how far, how long, and
    whether it came back.
Why it matters: a spike that recovers costs time and says that the step size is near its limit or
    that a batch was bad; a run of them often comes before divergence.
Fires on:
    train/loss: 4>2~0.05*300 6 7 6.5 5 4 3 2.5~0.05*5 2~0.05*100
    train/loss: 2.2 1.4 0.66 0.44 0.34 0.3 0.28 1.26 0.54 0.38 0.32 0.28 0.25 0.24 ; lr: 0.001*700
Stays quiet:
    train/loss: 2.2 1.4 0.66 0.44 0.34 0.3 0.28 0.37 0.25 0.21 0.26 0.19 0.17 ; lr: 0.001*650
    train/loss: 1.3 0.36 0.055 0.028 0.02 0.014 0.011 0.017 0.025 0.01 0.009 0.011 ; lr: 0.001*600
    train/loss: 4>2~0.05*300 2.9 2~0.05*100
    train/loss: 4>2~0.3*400
    train/loss: 0.2 0.1 0.5 (0.1 0.15 0.2 0.12)*12 0.5 (0.1 0.15 0.2)*12 ; step: 10>880*88
    train/loss: 2>1~0.01*130 1.6>1.1~0.01*8 1~0.01*40 ; lr: (0.1>0.001*65)*2 0.1>0.001*48
Try next: read the batches around the spike; look at grad_norm and lr in the steps before; clip
    gradients at the usual norm; lower the learning rate if spikes come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.excursions import WINDOW, Excursion
from ..core.finding import Basis, Finding, Severity, times
from ..core.registry import analyzer
from ..core.view import RunView
from .jumps import largest_jump
from .levels import loss_range

_EDGE = 6.0
"""Times the usual step from one value of a running mean to the next."""
_FEW = 8
_MOST_JUDGED = 512
"""Excursions that are judged one by one; a loss with more of them has no usual level."""


@analyzer
@dataclass(frozen=True, slots=True)
class LossSpike:
    """Report each spike once, at the step where it began."""

    id: ClassVar[str] = "loss_spike"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    least_points: int = 3
    absurd: float = 5.0
    """Falls of the whole run that a single step must exceed."""
    explodes: float = 3.0
    """Times its first value that the loss reaches within the first steps."""
    nearly: float = 0.2
    """Share of a rise that may be left when a spike counts as over."""
    stands_out: float = 2.0
    """Times the highest ordinary value before it that one point alone must rise."""
    surprising: float = 4.0
    """Deviations of the logarithm from its median: not one of thousands of points is as high."""
    least_share: float = 0.1
    """Rise, as a share of the loss's whole fall, from which a spike is worth a warning."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at the excursions of the loss that came back."""
        curve = view.curve("train/loss")
        if curve is None or curve.is_interleaved or not view.facts.is_monotone:
            return
        fall = loss_range(curve)
        if (early := self._at_the_start(curve)) is not None:
            yield self._report(view, curve, early)
        ended = [self._ended(curve, spike) for spike in _largest(curve.excursions)]
        spikes = [spike for spike in ended if self._is_spike(curve, spike, fall)]
        if view.facts.is_smoothed(curve):
            spikes = [spike for spike in spikes if _has_edge(curve, spike)]
        if not spikes and early is None and (jump := _among_few(curve)) is not None:
            spikes = [jump]
        spikes = [spike for spike in spikes if not _follows_cycle(view, curve, spike)]
        recurring = _recurring(spikes, self.least_points)
        for spike in spikes:
            is_known = spike in recurring or _is_announced(view, curve, spike)
            yield self._report(view, curve, spike, Severity.INFO if is_known else Severity.WARNING)

    def _at_the_start(self, curve: Curve) -> Excursion | None:
        """The first steps throw the loss far above where it began: there is no range yet."""
        reach = max(4, min(len(curve) // 6, 512))
        head = curve.y[: reach + 1]
        if len(curve) < 24 or not np.isfinite(head).all() or head[0] <= 0:
            return None
        later = curve.y[len(curve) // 2 :][-512:]
        later = later[np.isfinite(later)]
        if np.sum(later > 0) < 8:
            return None
        limit = self.explodes * max(float(head[0]), float(np.median(later)))
        # What comes by chance in the beginning comes later, too.
        beyond = head > max(limit, float(np.quantile(later, 0.98)))
        # Three in a row: the first value may be low by chance.
        runs = beyond[2:] & beyond[1:-1] & beyond[:-2]
        if not runs.any():
            return None
        over = np.flatnonzero(beyond)
        peak = int(np.argmax(head))
        back = np.flatnonzero(curve.y[peak:] <= 1.2 * head[0])
        if len(back) < 2:
            return None
        first = float(head[0])
        # Where neighbours differ by factors, the first may be low by chance.
        moves = np.abs(np.diff(np.log(later[later > 0])))
        if np.log(np.median(head[over]) / first) < float(np.quantile(moves, 0.98)):
            return None
        return Excursion(
            int(over[0]), first, first / 6, float(head[peak]), peak, peak + int(back[0]), len(over)
        )

    def _ended(self, curve: Curve, spike: Excursion) -> Excursion:
        """A spike that came back nearly, to a level a little higher than before, is over too."""
        if spike.end is not None:
            return spike
        after = curve.y[spike.peak_at : spike.peak_at + 512]
        low = after <= spike.baseline + self.nearly * spike.rise
        if len(after) < 6 or not low.any() or float(np.mean(low[int(np.argmax(low)) :])) < 0.9:
            return spike
        return replace(spike, end=spike.peak_at + int(np.argmax(low)))

    def _is_spike(self, curve: Curve, spike: Excursion, fall: float) -> bool:
        if spike.end is None or spike.rise < self.least_share * fall:
            return False
        if spike.points >= self.least_points:
            is_long = spike.points >= 2 * self.least_points
            return is_long or any(self._stands_out(curve, spike))
        # One logged value may stand for many steps; one step alone is a hard batch.
        steps = curve.spacing if curve.axis_name == "step" else 1.0
        if spike.rise <= max(1.0, self.absurd / max(steps, 1.0)) * fall:
            return False
        return all(self._stands_out(curve, spike)) and not _comes_again(curve, spike)

    def _stands_out(self, curve: Curve, spike: Excursion) -> tuple[bool, bool]:
        """Whether nothing nearly as high was there before, and whether nothing suggested it.

        Losses of few samples have long tails: they range over decades, and only their logarithm
        tells what comes by chance.
        """
        first = _end_of_beginning(curve, spike)
        is_ordinary = curve.memo("ordinary", _ordinary)
        before = curve.y[first : spike.start][is_ordinary[first : spike.start]]
        if len(before) < 8:
            return True, True
        is_new = spike.rise > self.stands_out * (float(before.max()) - spike.baseline)
        if float(before.min()) <= 0:
            return is_new, is_new
        middle, high = np.quantile(np.log(before), (0.5, 0.9))
        deviation = max(float(high - middle) / 1.2816, 1e-9)
        return is_new, float(np.log(spike.peak) - middle) > self.surprising * deviation

    def _report(
        self,
        view: RunView,
        curve: Curve,
        spike: Excursion,
        severity: Severity = Severity.WARNING,
    ) -> Finding:
        end = spike.end if spike.end is not None else len(curve) - 1
        factor = spike.peak / spike.baseline if spike.baseline > 0 else np.nan
        grown = f", {times(factor)} its level" if np.isfinite(factor) else ""
        title = (
            f"{curve.name} jumped from {spike.baseline:.4g} to {spike.peak:.4g}{grown}, at "
            f"{curve.axis_name} {curve.step(spike.start):.10g} and was back by "
            f"{curve.step(end):.10g}"
        )
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(spike.start, spike.peak_at),
                *view.facts.remarks(curve),
            ),
            first_step=curve.step(spike.start),
            last_step=curve.step(end),
            details={"peak": spike.peak, "baseline": spike.baseline, "points": spike.points},
        )


def _largest(excursions: Sequence[Excursion]) -> Sequence[Excursion]:
    """As many excursions as are judged, the largest ones, in their order."""
    if len(excursions) <= _MOST_JUDGED:
        return excursions
    least = sorted(excursion.rise for excursion in excursions)[-_MOST_JUDGED]
    return [excursion for excursion in excursions if excursion.rise >= least]


def _ordinary(curve: Curve) -> npt.NDArray[np.bool_]:
    """Which points are finite and outside of all excursions that are over."""
    is_ordinary = np.isfinite(curve.y)
    for excursion in curve.excursions:
        if excursion.end is not None:
            is_ordinary[excursion.start : excursion.end] = False
    return is_ordinary


def _among_few(curve: Curve) -> Excursion | None:
    """A jump in a curve too short to have a range; one value may stand for a whole epoch."""
    is_each_step = curve.axis_name == "step" and curve.spacing <= 1.0
    jump = None if is_each_step else largest_jump(curve.y)
    if jump is None or jump.back is None:
        return None
    points = jump.back - jump.at
    scale = (jump.peak - jump.before) / WINDOW
    return Excursion(jump.at, jump.before, scale, jump.peak, jump.peak_at, jump.back, points)


def _comes_again(curve: Curve, spike: Excursion) -> bool:
    """Values nearly as high come now and then since, and are nothing special any more: a tail."""
    later = curve.y[(spike.end or spike.peak_at) + 1 :][:512]
    high = np.flatnonzero(later > spike.baseline + 0.5 * spike.rise)
    first = (spike.end or spike.peak_at) + 1
    special = {place for one in curve.excursions for place in range(one.start, one.start + 4)}
    return sum(first + int(place) not in special for place in high[:64]) >= 2


def _has_edge(curve: Curve, spike: Excursion) -> bool:
    """A jump of what a running mean is made of shows as a step; without one the mean wanders."""
    before = np.abs(np.diff(curve.y[max(0, spike.start - WINDOW) : spike.start]))
    climb = np.diff(curve.y[max(0, spike.start - 2) : spike.peak_at + 1])
    before = before[np.isfinite(before)]
    if len(before) < _FEW or len(climb) == 0:
        before = np.abs(climb[np.isfinite(climb)])
    return not len(before) or float(np.nanmax(climb)) > _EDGE * float(np.median(before))


def _recurring(spikes: list[Excursion], least_points: int) -> list[Excursion]:
    """Single steps that stick out again and again at the same distance: the same hard batch."""
    single = [spike for spike in spikes if spike.points < least_points]
    if len(single) < 3:
        return []
    apart = np.diff([spike.start for spike in single])
    return single if float(np.ptp(apart)) <= 0.05 * float(np.median(apart)) else []


def _is_announced(view: RunView, curve: Curve, spike: Excursion) -> bool:
    """A stage that the log tells of begins just there: new data cost more for a while."""
    room = 2 * curve.spacing
    return view.facts.change_near(curve.step(spike.start), room, room) is not None


def _end_of_beginning(curve: Curve, spike: Excursion) -> int:
    """From where on values may be compared with a spike: the first third may still be falling."""
    third = min(spike.start // 3, max(0, spike.start - 64))
    if 0 < spike.start // 3 != third:
        head = curve.y[: spike.start // 3]
        head = head[np.isfinite(head)]
        error = 1.25 * spike.scale / max(len(head), 1) ** 0.5
        has_fallen = len(head) > 0 and float(np.median(head)) > spike.baseline + 3 * error
        third = spike.start // 3 if has_fallen else third
    return max(third, spike.start - 4096)


def _follows_cycle(view: RunView, curve: Curve, spike: Excursion) -> bool:
    """A rise with a learning rate that goes up again as it did before, within what was reached."""
    rates = view.curve("lr")
    if rates is None or not view.facts.is_cyclic or spike.peak > float(np.max(curve.y[:5])):
        return False
    places = curve.x[[max(0, spike.start - WINDOW), spike.start]]
    first, start = np.searchsorted(rates.x, places).tolist()
    until = int(np.searchsorted(rates.x, curve.x[spike.peak_at], side="right"))
    before = rates.y[first:start]
    if len(before) == 0:
        return False
    low, high = float(before.min()), float(rates.y[until - 1])
    if not 0 < 2 * low < high:
        return False
    is_high = rates.y[:until] > np.sqrt(low * high)
    return int(np.sum(is_high[1:] & ~is_high[:-1])) >= 2

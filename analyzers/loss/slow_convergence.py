"""slow_convergence: the training loss falls, but far too slowly to get anywhere.

What it sees: a loss that goes down steadily, as fast at the end as at the beginning, and has won
    less than a fifth of its first value. A healthy loss falls fast first and then ever slower.
    When all is done that was planned, ten epochs and the smallest fall beyond chance are enough;
    where a tiny rate has decayed, the fall is measured by the sum of the rates. A validation that
    gets worse meanwhile shows that it is no lack of speed; one that wins the same few per cent at
    each of many evaluations, that it is one, also where more was won.
Why it matters: the same compute at another step size would be much further.
Fires on:
    train/loss: 2.30>2.10~0.01*600
    train/loss: 0.7236>0.7228*60 ; config: max_iters=60
    train/loss: 0.4>0.24~0.004*24 ; val/loss: 0.42>0.365*8 0.358>0.311*8 0.305>0.265*8
    train/loss: 4.6>4.5*20 4.5>4.43*20 4.43>4.38*20 4.38>4.35*20 4.35>4.34*20 ; lr: 4e-6>4e-9*100
Stays quiet:
    train/loss: 0.4>0.3*10 0.3>0.24~0.004*15 ; val/loss: 0.42>0.31*10 0.305>0.26*15
    train/loss: 0.4>0.24~0.004*25 ; val/loss: 0.42>0.36*10 0.36~0.01*15
    train/loss: 1.62>1.5*10 1.48>1.3*10 1.28>1*10 ; val/loss: 1.65>1.56*10 1.54>1.4*10 1.37>1.1*10
    train/loss: 0.7236>0.7228*60 ; config: max_iters=6000
    train/loss: 2.30>2.10~0.01*600 ; val/loss: 2.3>2.5~0.01*20
    train/loss: 0.1012>0.0995*20 ; val/loss: 0.1~0.0005*20 ; config: max_iters=20
    train/loss: 0.30>0.27~0.001*600 ; val_acc: 0.9>0.92~0.004*40
    train/loss: 4.6>4.5*20 4.5>4.43*20 4.43>4.38*20 4.38>4.35*20 4.35>4.34*20 ; lr: 4e-4>4e-7*100
    train/loss: 2.30>1.2~0.02*100 1.2>1.0~0.02*500
    train/loss: 2.30>2.20~0.01*20
    train/loss: 2.09>2.06~0.005*200 2.06>2.01~0.005*100 2.01>1.8~0.005*60
Try next: ten times the learning rate for 200 steps; the slope should be five times as steep.
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
from ..resources.trends import rank_correlation
from .completion import is_complete
from .levels import Shape, begins_at_start, shape_of
from .outcomes import does_well, is_fine_tuning, may_be_fine_tuning, peak_rate


@analyzer
@dataclass(frozen=True, slots=True)
class SlowConvergence:
    """Looks for a straight line where a healthy curve bends."""

    id: ClassVar[str] = "slow_convergence"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    least_points: int = 30
    least_epochs: int = 10
    """Points that are enough when all planned steps are done."""
    most_gain: float = 0.20
    least_gain: float = 0.003
    least_falls: int = 20
    """Evaluations that must all be better than the one before, and not by ever less."""
    most_won: float = 0.6
    """Logarithm of what they won together,"""
    most_step: float = 0.03
    """and each of them."""
    tiny: float = 1e-5
    """Peak rate that hardly any optimizer gets far with."""
    straight: float = 0.55
    """Share of the first half's fall that the second half must add."""
    accelerating: float = 1.5
    """A fall at the end that is so many times as fast as on average is getting faster."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge the primary loss."""
        curve = view.curve("train/loss")
        if (
            curve is None
            or curve.is_interleaved
            or not view.facts.is_monotone
            or len(curve) < self.least_epochs
        ):
            return
        shape = shape_of(curve)
        if shape is None or not begins_at_start(curve) or is_fine_tuning(view):
            return
        if view.facts.is_cyclic or self._is_warming_up(view, curve) or _gets_worse(view):
            return
        if does_well(view, shape.last):
            return  # what is left to be won is little
        if self._gathers_speed(view, shape):
            return
        is_long = len(curve) >= self.least_points and shape.gain > self.least_gain
        is_slow = is_long and self._is_slow(shape, shape.levels)
        is_slow = is_slow or self._never_bends(view, curve)
        if is_slow or self._is_slow_for_good(view, curve, shape):
            yield self._report(view, curve, shape)

    def _never_bends(self, view: RunView, curve: Curve) -> bool:
        """Validation better at each of many evaluations, by the same small share as at first.

        Whoever learns in steps of a fitting size wins most of what there is to win early on.
        """
        val = view.curve("val/loss")
        if val is None or not self.least_falls <= len(val) <= 512 or not begins_at_start(val):
            return False
        if any(view.curve(f"{split}/accuracy") is not None for split in ("train", "val")):
            return False  # it tells better whether anything is learned
        if view.facts.is_decayed or may_be_fine_tuning(view, curve):
            return False
        if not np.isfinite(val.y).all() or float(np.min(val.y)) <= 0:
            return False
        falls = -np.diff(np.log(val.y))
        third = len(falls) // 3
        begin, end = float(np.mean(falls[:third])), float(np.mean(falls[-third:]))
        own, won = shape_of(curve), float(np.sum(falls))
        is_shared = own is not None and abs(-np.log1p(-min(own.gain, 0.99)) - won) < 0.3 * won
        # Who finds the way after a while falls ever faster, who has found it ever slower.
        is_even = 0.85 * begin < end < 1.15 * begin
        is_small = self.least_gain < won < self.most_won and float(np.max(falls)) < self.most_step
        return bool(np.all(falls > 0)) and is_small and is_shared and is_even

    def _is_slow_for_good(self, view: RunView, curve: Curve, shape: Shape) -> bool:
        """At the end of all that was planned: also in few epochs, or with a rate that is gone."""
        rate = peak_rate(view)
        if may_be_fine_tuning(view, curve) or not _falls_alike(view, shape):
            return False
        if view.facts.is_decayed and rate is not None and rate <= self.tiny:
            levels = _by_sum_of_rates(view, shape)
            return levels is not None and self._is_slow(shape, levels)
        return is_complete(view, curve) and self._is_slow(shape, shape.levels)

    def _is_warming_up(self, view: RunView, curve: Curve) -> bool:
        warm = view.facts.warmup_until
        return warm is not None and warm > 0.3 * float(curve.x[-1])

    def _is_slow(self, shape: Shape, levels: Floats) -> bool:
        if len(levels) < 8 or not 0.0 < shape.gain < self.most_gain:
            return False
        quarter = max(2, len(levels) // 6)
        start = float(np.median(levels[:quarter]))
        half = len(levels) // 2
        middle = float(np.median(levels[half - quarter // 2 : half + quarter // 2 + 1]))
        end = float(np.median(levels[-quarter:]))
        first, second = start - middle, middle - end
        if first <= 0 or second <= 0:
            return False
        is_real = second > 4 * shape.error and start - end > 6 * shape.error
        falls = float(np.mean(np.diff(levels) < shape.error))
        # The very first values may fall quicker than the first windows show.
        initial = max(0.0, shape.first - start)
        return is_real and falls > 0.75 and second >= self.straight * (first + initial)

    def _gathers_speed(self, view: RunView, shape: Shape) -> bool:
        """True if the loss falls ever faster, or will: its gradients grow, at an even rate."""
        rate = view.curve("lr")
        if rate is not None and rank_correlation(rate.bins[2]) > 0.5:
            return False  # the rate rises, and takes the loss along
        # The first values of a healthy curve fall fastest, and hide what the others do.
        late = shape.levels[len(shape.levels) // 3 :]
        return self._accelerates(shape.levels) or self._accelerates(late) or _gradients_grow(view)

    def _accelerates(self, levels: Floats) -> bool:
        """True if a parabola through the levels bends down beyond chance."""
        if len(levels) < 6:
            return False
        x = np.linspace(-1.0, 1.0, len(levels))
        terms = np.stack([np.ones_like(x), x, x * x], axis=1)
        found, *_ = np.linalg.lstsq(terms, levels, rcond=None)
        slope, bend = float(found[1]), float(found[2])
        rest = levels - terms @ found
        variance = float(rest @ rest) / (len(levels) - 3)
        error = float(np.sqrt(variance * np.linalg.inv(terms.T @ terms)[2, 2]))
        return slope < 0 and bend < -3 * error and slope + 2 * bend < self.accelerating * slope

    def _report(self, view: RunView, curve: Curve, shape: Shape) -> Finding:
        share = 100 * shape.gain
        return Finding(
            id=self.id,
            title=f"{curve.name} won only {share:.2g} % ({shape.first:.4g} to {shape.last:.4g}) by "
            f"{curve.axis_name} {curve.x[-1]:.10g} and falls as slowly as at the beginning",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.8),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(0, len(curve) - 1), *view.facts.remarks(curve)),
            first_step=curve.step(0),
            details={"gain": shape.gain},
        )


def _gradients_grow(view: RunView) -> bool:
    """Gradients that rise steadily over the later two thirds: the loss leaves a flat region."""
    norm = view.curve("grad_norm")
    shape = shape_of(norm) if norm is not None else None
    if shape is None or len(shape.levels) < 12:
        return False
    late = shape.levels[len(shape.levels) // 3 :]
    third = len(late) // 3
    before, after = float(np.median(late[:third])), float(np.median(late[-third:]))
    return rank_correlation(late) > 0.8 and after > 1.1 * before


def _gets_worse(view: RunView) -> bool:
    """Validation rises while training falls: what is learned holds for no other data."""
    val = view.curve("val/loss")
    if val is None or len(val) < 5 or not np.isfinite(val.bins[2]).all():
        return False
    return rank_correlation(val.bins[2]) > 0.7


def _falls_alike(view: RunView, shape: Shape) -> bool:
    """Validation, where there is any, wins as much: who only memorises on creeps down alone."""
    val = view.curve("val/loss")
    if val is None or len(val) < 4:
        return True
    first, last = float(val.bins[2][0]), float(np.median(val.bins[2][-2:]))
    is_falling = rank_correlation(val.bins[2]) < -0.7
    return is_falling and first > 0 and 1.0 - last / first > 0.4 * shape.gain


def _by_sum_of_rates(view: RunView, shape: Shape) -> Floats | None:
    """The levels at equal distances on the way that all rates together make."""
    rate = view.curve("lr")
    if rate is None or len(rate) < 8 or not np.isfinite(rate.bins[2]).all():
        return None
    rates = np.interp(shape.starts, rate.bins[0], rate.bins[2])
    way = np.concatenate([[0.0], np.cumsum(rates)[:-1]])
    if way[-1] <= 0:
        return None
    return np.interp(np.linspace(0.0, way[-1], len(way)), way, shape.levels)

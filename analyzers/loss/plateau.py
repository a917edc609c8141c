"""plateau: the training loss stopped falling; converged, or stuck.

What it sees: no slope beyond chance since some step, for at least two fifths of the run. With the
    loss below half of its first value, or the learning rate decayed, that is convergence and only
    information. Stuck means: high, at a full learning rate, or at the exact floor that a wrong
    output layer leaves, and no line through all points falls; or with an error rate that is still
    that of no answer at all when the rate has decayed; or, however far it fell, under a rate that
    no adaptive optimizer bears (Adam at 0.1 and more). A loss that is low for an accuracy that is
    high has converged, however little it fell: a convex problem is solved within an epoch.
Why it matters: stuck, the remaining compute is wasted; converged, it could be saved.
Fires on:
    train/loss: 2.3>1.9~0.01*60 1.9~0.01*600
    train/loss: 2.3>0.3~0.01*300 0.3~0.01*500
    train/loss: 74>9~0.5*40 9~0.5*60 ; lr: 0.0005*40 0.0005>1e-8*60 ; val_cer: 0.98 1 1 1
Stays quiet:
    train/loss: 2.3>0.3~0.01*600
    train/loss: 2.3 1.9 1.7 1.6 1.6
    train/loss: 3.8>3.3*4 3.3~0.05*16 ; lr: 0>0.0004*20
Try next: stuck: raise or lower the learning rate threefold for 300 steps, check the output layer;
    converged: stop, or go on with a decayed rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .levels import (
    Shape,
    begins_at_start,
    goes_on_falling,
    is_shown_flat,
    is_too_coarse,
    is_warming_up,
    shape_of,
)
from .outcomes import (
    accuracy,
    binned_fraction,
    chance_loss,
    creeps_down,
    does_well,
    is_fine_tuning,
    is_improving,
    may_be_fine_tuning,
)
from .overdriven import overdriven
from .worthless import all_wrong

_CREEPS = 0.02
"""Share of its level that a loss wins on the way that is called flat, if it does so evenly."""


_MOST_FALL = 0.08
"""Share of its level that a loss may still fall on a stretch that is called flat,"""
_MOST_SHARE = 0.03
"""or share of all that it fell."""


@analyzer
@dataclass(frozen=True, slots=True)
class Plateau:
    """Finds since when the loss is flat and says which kind of flat it is."""

    id: ClassVar[str] = "plateau"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    least_share: float = 0.4
    """Share of the run that must be flat."""
    stuck_above: float = 0.75
    """Share of the first level above which a flat loss is stuck."""
    stuck_at_once: float = 0.6
    """The same for a loss that was flat nearly from the start,"""
    at_once: float = 0.2
    """that is within this share of the run."""
    alone_above: float = 0.9
    """The same where nothing but the loss is logged, and it fell for a while."""
    driven_above: float = 0.05
    """The same under a learning rate that the optimizer does not bear."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge the primary loss."""
        curve = view.curve("train/loss")
        if (
            curve is None
            or curve.is_interleaved
            or not view.facts.is_monotone
            or is_too_coarse(view, curve)
            or is_warming_up(view, curve)
            or not np.isfinite(curve.y[-1])  # it broke, which is another finding
        ):
            return
        shape = shape_of(curve)
        if shape is None or len(shape.levels) < 10 or shape.fall <= 3 * shape.error:
            return
        if shape.last > 1.15 * abs(shape.best) + 4 * shape.error:
            return  # it was better before: that is divergence
        flat = self._flat_since(shape)
        if flat is None or shape.fall < 0.03 * abs(shape.first):
            return
        is_stuck = shape.first > 0 and self._is_stuck(view, curve, shape, flat)
        tolerance = max(_MOST_FALL * abs(shape.last), _MOST_SHARE * shape.fall)
        if is_stuck or is_shown_flat(curve, float(shape.starts[flat]), tolerance):
            yield self._report(view, curve, shape, flat, is_stuck)

    def _flat_since(self, shape: Shape) -> int | None:
        """The first window from which on no window is better than chance allows."""
        levels = shape.levels
        end = float(np.median(levels[-max(2, len(levels) // 5) :]))
        band = max(4 * shape.error, 0.01 * abs(end), 0.01 * shape.fall)
        outside = np.abs(levels - end) > band
        # Now and then a window lies outside by chance.
        misses = np.cumsum(outside[::-1])[::-1] / np.arange(len(levels), 0, -1)
        calm = np.flatnonzero((misses <= 0.08) & ~outside)
        since = int(calm[0]) if len(calm) else len(levels)
        if len(levels) - since < self.least_share * len(levels):
            return None
        third = max(1, (len(levels) - since) // 3)
        drift = float(np.median(levels[since : since + third]) - np.median(levels[-third:]))
        return since if abs(drift) <= band else None

    def _since(self, view: RunView, curve: Curve, start: float) -> float:
        """The step at which it went flat; with a rate that died then, the step of its death."""
        rate = view.curve("lr")
        if rate is None or len(rate) < 8 or not np.isfinite(rate.y).all():
            return start
        dead = rate.y < 0.01 * float(rate.y.max())
        if not dead[-1] or dead.all():
            return start
        died = float(rate.x[len(dead) - int(np.argmin(dead[::-1]))])
        is_near = abs(died - start) < 0.1 * float(curve.x[-1] - curve.x[0])
        return min(died, float(curve.x[-1])) if is_near else start

    def _is_stuck(self, view: RunView, curve: Curve, shape: Shape, flat: int) -> bool:
        """High and flat at a full rate; lower only if it was flat nearly from the start."""
        if not begins_at_start(curve) or is_fine_tuning(view) or may_be_fine_tuning(view, curve):
            return False
        if all_wrong(view) is not None:
            return True
        # What was won within the first few values was won, too.
        share = shape.last / max(shape.first, float(curve.y[0]))
        since, fall = float(shape.starts[flat]), shape.first - shape.last
        if self._has_become_right(view) or does_well(view, shape.last):
            return False
        if share > self.driven_above and overdriven(view) is not None:
            return True
        if goes_on_falling(curve, since, fall, _CREEPS) or self._may_be_solved(view, curve):
            return False
        from_start = flat <= self.at_once * len(shape.levels)
        if view.curve("kl") is not None:
            return False  # what a divergence costs is no matter of learning, and has no known floor
        if share > self.stuck_above:
            if view.facts.is_decayed and (not from_start or not self._validation_is_flat(view)):
                return False
            is_alone = share < self.alone_above and not from_start and self._is_alone(view)
            return not is_alone and not is_improving(view) and not creeps_down(view, shape)
        if view.curve("val/loss") is None and (len(curve) < 100 or flat > 0.1 * len(shape.levels)):
            return False  # nothing else confirms it
        if not self._floor_is_known(view):
            return False
        return share > self.stuck_at_once and from_start and self._validation_is_flat(view)

    @staticmethod
    def _is_alone(view: RunView) -> bool:
        """Nothing but the loss is logged: what it went flat at may as well be its floor."""
        roles = ("val/loss", "train/accuracy", "val/accuracy", "lr", "score", "val/score")
        return all(view.curve(role) is None for role in roles)

    @staticmethod
    def _floor_is_known(view: RunView) -> bool:
        """A classifier can be right; how much of a number is noise, nobody knows."""
        roles = ("train/accuracy", "val/accuracy", "score", "val/score", "train/perplexity")
        return chance_loss(view) is not None or any(view.curve(role) is not None for role in roles)

    @staticmethod
    def _may_be_solved(view: RunView, curve: Curve) -> bool:
        """Epochs of a loss whose floor nobody knows: most may have been won within the first."""
        if curve.axis_name != "epoch" or chance_loss(view) is not None:
            return False
        roles = ("train/accuracy", "val/accuracy", "score", "val/score")
        return all(view.curve(role) is None for role in roles)

    @staticmethod
    def _has_become_right(view: RunView) -> bool:
        """Right far more often than at the very first value."""
        for split in ("train", "val"):
            measured = accuracy(view, split)
            if measured is None or len(measured) < 8:
                continue
            share = binned_fraction(measured)
            first, last = float(share[0]), float(np.nanmedian(share[-5:]))
            if last - first > 0.25 or (last - first > 0.2 and last > 2.0 * first):
                return True
        return False

    def _validation_is_flat(self, view: RunView) -> bool:
        """Validation must agree that nothing is learned any more."""
        val = view.curve("val/loss")
        if val is None or len(val) < 5 or not np.isfinite(val.y).all():
            return val is None
        later = val.y[len(val) // 4 :]
        return bool(abs(later[0] - np.median(later[-2:])) < 0.03 * abs(later[0]))

    def _report(
        self, view: RunView, curve: Curve, shape: Shape, flat: int, is_stuck: bool
    ) -> Finding:
        since = self._since(view, curve, float(shape.starts[flat]))
        at = _first_at_level(curve, int(np.searchsorted(curve.x, since)))
        wrong = all_wrong(view) if is_stuck else None
        driven = overdriven(view) if is_stuck and wrong is None else None
        kind = "stuck" if is_stuck else "converged or at its floor"
        title = (
            f"{curve.name} is flat at {shape.last:.4g} since {curve.axis_name} "
            f"{curve.step(at):.10g}: {kind} ({100 * shape.last / shape.first:.3g} % of its "
            f"first value)"
            + (f", with {wrong.name} at {wrong.y[-1]:.3g}" if wrong is not None else "")
            + (f", at a rate of {driven.rate:.3g} ({driven.optimizer})" if driven else "")
        )
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.WARNING if is_stuck else Severity.INFO,
            confidence=finding_confidence(Basis.RESEARCH, 0.75),
            basis=Basis.RESEARCH,
            evidence=(
                curve.evidence(at, len(curve) - 1),
                *([wrong.evidence(0, len(wrong) - 1)] if wrong is not None else []),
                *(driven.evidence if driven is not None else ()),
                *view.facts.remarks(curve),
            ),
            first_step=curve.step(at),
            details={
                "level": shape.last,
                "stuck": float(is_stuck),
                "all_wrong": float(wrong is not None),
                "overdriven": float(driven is not None),
                "at_once": float(flat <= self.at_once * len(shape.levels)),
            },
        )


def _first_at_level(curve: Curve, start: int) -> int:
    """The first point of a flat stretch that is as near to its level as the others are.

    A stretch begins with a whole window of points, and the first of them may still be falling.
    """
    values = curve.y[start:]
    level = float(np.nanmedian(values))
    reach = 4 * 1.4826 * float(np.nanmedian(np.abs(values - level))) + curve.grain
    near = np.flatnonzero(np.abs(values - level) <= reach)
    return start + int(near[0]) if len(near) else start

"""overfitting: the validation loss rises while the training loss still falls.

What it sees: a validation loss at least a tenth above its minimum, the minimum at least two
    evaluations ago, the rise larger than the usual jitter between evaluations, and a training
    loss clearly lower than at that minimum. A single worse evaluation means nothing. While the
    accuracy does not suffer it is information, unless the training set is known by heart and the
    validation set far from it, or validation was never better than a guess. By an area under the
    curve: one of validation that never leaves the half of a guess, while that of training rises.
Why it matters: from the minimum on, training makes the model worse on data it has not seen.
Fires on:
    train/loss: 2>0.1~0.01*400 ; val/loss: 2 1.5 1.2 1.1 1.15 1.25 1.4 1.6 1.8 2.0
    train/accuracy: 0.5>1.0*20 ; val/accuracy: 0.5 0.7 0.8 0.78 0.75 0.72 0.70 0.68 0.66 0.65
    train/loss: 1.6>1.2*10 ; val/loss: 1.61>1.97*10 ; train_acc: 0.19>0.5*10 ; val_acc: 0.19*10
    train/loss: 0.69>0.62*50 ; val/loss: 0.7>0.71*50 ; auc: 0.56>0.79*50 ; val_auc: 0.49~0.01*50
    train/loss: 2.4>0.1*14 0.1>0.002*60 ; val/loss: 2.4>1.3*14 1.3>1.6*60 ; val_acc: 0.1>0.58*74
    train/loss: 2.2>0.03*20 ; val/loss: 2.2 2 2.2 2.1 (3.1 3 2.7 3.4)*4 ; val_acc: (0.2 0.3)*10
Stays quiet:
    train/loss: 2.2>0.9*20 ; val/loss: (2.2 1.9 2.4 2.2)*5
    train/loss: 0.69>0.62*50 ; val/loss: 0.7>0.68*50 ; auc: 0.56>0.79*50 ; val_auc: 0.49>0.63*50
    train/loss: 2>0.5~0.01*400 ; val/loss: 2 1.5 1.2 1.0 0.95 0.97 0.9 0.92 0.88 0.9
    train/loss: 2>0.9~0.01*400 ; val/loss: 2 1.5 1.2 1.1 1.0 1.02 1.04
Try next: use the checkpoint of the minimum; more data or augmentation; weight decay or dropout; a
    smaller model, in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .levels import first_level, level_at
from .memorised import has_memorised, ranks_at_random, was_never_right
from .outcomes import as_fraction


@analyzer
@dataclass(frozen=True, slots=True)
class Overfitting:
    """Compares the validation curve with its minimum, and with training."""

    id: ClassVar[str] = "overfitting"
    roles: ClassVar[tuple[str, ...]] = ("val/loss", "train/loss", "val/accuracy", "train/accuracy")
    events: ClassVar[tuple[str, ...]] = ()
    least_evaluations: int = 4
    least_rise: float = 0.10
    jitters: float = 4.0
    train_falls_to: float = 0.9
    harmless: float = 1.3
    """Up to this factor a rise that costs no accuracy is information."""
    least_absolute: float = 0.03
    """Rise as a share of the first training loss."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge by losses where there are both, else by accuracies."""
        if not view.facts.is_monotone:
            return
        loss, val_loss = view.curve("train/loss"), view.curve("val/loss")
        found: list[Finding] = []
        if loss is not None and val_loss is not None and len(val_loss) >= self.least_evaluations:
            found = list(self._by_loss(view, loss, val_loss))
        else:
            right, val_right = view.curve("train/accuracy"), view.curve("val/accuracy")
            if right is not None and val_right is not None:
                found = list(self._by_accuracy(right, val_right))
        yield from found or ranks_at_random(view, self.id)

    def _by_loss(self, view: RunView, train: Curve, val: Curve) -> Iterator[Finding]:
        values = val.y
        _, _, _, lowest, _, counts = val.bins
        if int(counts.sum()) < len(val) or float(np.min(lowest)) <= 0:
            return
        low = int(np.argmin(values))
        after = values[low:]
        if len(after) < 3:
            return
        now = float(np.median(after[-min(3, len(after) - 1) :]))
        rise = now - float(values[low])
        jitter = _jitter(values)
        is_clear = rise >= self.jitters * jitter or self._is_high_for_long(values, low, jitter)
        if rise < self.least_rise * values[low] or not is_clear:
            return
        # A converged toy run may double a tiny loss without anyone losing anything.
        if rise < self.least_absolute * abs(first_level(train)):
            return
        then, latest = level_at(train, val.step(low)), level_at(train, float(train.x[-1]))
        if not latest <= self.train_falls_to * then:
            return
        gained = self._outcome_gain(view, val.step(low))
        still_better = gained is not None and (
            (gained > 1.0 and now < 1.5 * values[low])
            or (gained > -0.5 and now < self.harmless * values[low])
        )
        guessed = was_never_right(view, val)
        if guessed or has_memorised(view):
            still_better = False  # there is nothing left that could suffer
        found = self._report(view, train, val, low, now, then, latest, still_better=still_better)
        yield replace(found, details={**found.details, "guessed": float(guessed)})

    def _is_high_for_long(self, values: Floats, low: int, jitter: float) -> bool:
        """Evaluations that scatter, and of which not one of the later half is near the lowest."""
        later = values[len(values) // 2 :]
        if low > len(values) // 3 or len(later) < 8:
            return False
        # The lowest of many that scatter is low by chance, its neighbours are not.
        begin = float(np.median(values[max(0, low - 1) : low + 2]))
        needed = self.jitters * jitter * np.sqrt(3.0 / len(later))
        is_above = float(np.min(later)) > (1.0 + self.least_rise) * begin
        return is_above and float(np.median(later)) - begin > needed

    def _outcome_gain(self, view: RunView, step: float) -> float | None:
        """Gain of accuracy or score since a step, in units of what would be noticed."""
        for role in ("val/accuracy", "val/score"):
            curve = view.curve(role)
            if curve is None or len(curve) < 6 or not np.isfinite(curve.y).all():
                continue
            values = as_fraction(curve)
            at = int(np.searchsorted(curve.x, step))
            if at >= len(values) - 2:
                continue
            then = float(np.median(values[max(0, at - 1) : at + 2]))
            now = float(np.median(values[-3:]))
            return (now - then) / max(0.02 * abs(then), 2 * _jitter(values), 1e-12)
        return None

    def _report(
        self,
        view: RunView,
        train: Curve,
        val: Curve,
        low: int,
        now: float,
        then: float,
        latest: float,
        *,
        still_better: bool,
    ) -> Finding:
        step = val.step(low)
        gap = now - latest
        title = (
            f"{val.name} rose from its minimum {val.y[low]:.4g} at {val.axis_name} {step:.10g} to "
            f"{now:.4g} (+{100 * (now / val.y[low] - 1):.0f} %) while {train.name} fell from "
            f"{then:.4g} to {latest:.4g}; the gap is {gap:.3g}"
        )
        if still_better:
            title += "; accuracy or score do not suffer, so it is overconfidence so far"
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.INFO if still_better else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(
                val.evidence(low, len(val) - 1),
                train.evidence(
                    int(np.clip(np.searchsorted(train.x, step), 0, len(train) - 1)), len(train) - 1
                ),
                *view.facts.remarks(val),
            ),
            first_step=step,
            details={"gap": gap, "minimum": float(val.y[low]), "now": now},
        )

    def _by_accuracy(self, train: Curve, val: Curve) -> Iterator[Finding]:
        measured, reached = as_fraction(val), as_fraction(train)
        if len(measured) < 5 or not np.isfinite(measured).all() or not np.isfinite(reached).all():
            return
        high = int(np.argmax(measured))
        # The best of many that scatter is good by chance, its neighbours are not.
        near = len(measured) // _NEAR_BEST
        best = float(np.median(measured[max(0, high - near) : high + near + 1]))
        now = float(np.median(measured[-max(3, 2 * near) :]))
        fitted = float(np.median(reached[-3:]))
        drop = best - now
        if len(measured) - high < 4 or drop < max(0.03, self.jitters * _jitter(measured)):
            return
        if fitted - now < 0.1 or fitted < level_at(train, val.step(high)):
            return
        yield Finding(
            id=self.id,
            title=f"{val.name} fell from {best:.3g} at {val.axis_name} "
            f"{val.step(high):.10g} to {now:.3g} while {train.name} reached {fitted:.3g}: the gap "
            f"is {100 * (fitted - now):.0f} points",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85),
            basis=Basis.OBSERVATION,
            evidence=(val.evidence(high, len(val) - 1), train.evidence(len(train) - 1)),
            first_step=val.step(high),
            details={"gap": fitted - now},
        )


_NEAR_BEST = 40
"""Evaluations of which one on either side of the best is looked at, too."""


def _jitter(values: Floats) -> float:
    """Usual difference between neighbouring evaluations beyond their trend."""
    values = values[-4096:]
    if len(values) < 5:
        return 0.0
    bends = values[2:] - 2 * values[1:-1] + values[:-2]
    return float(np.median(np.abs(bends))) / 2.0

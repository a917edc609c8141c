"""underfitting: training and validation agree, and both stay bad.

What it sees: a training accuracy that has been flat for at least the last two fifths of the run,
    well below what the task allows, with a validation accuracy as low and a learning rate that
    has not decayed. From losses alone this cannot be told from noise in the data, so without an
    accuracy it is never more than information. Among a few classes a validation accuracy near that
    of a guess is enough, where both losses have levelled out together. A classifier whose loss came
    down from many times a guess, and costs more than one to the end, is underfitted however it got
    on.
Why it matters: more steps, and more regularisation, will not help; the model, its features or the
    labels limit it.
Fires on:
    train/accuracy: 0.1>0.42*9 0.42*30 ; val/accuracy: 0.1>0.41*9 0.41*30 ; config: classes=9
    train/loss: 2.38 2.18>1.92*8 1.9~0.005*9 ; val/loss: 2.23>1.89*18 ; val_acc: 0.17>0.24*18
    train/loss: 94 16 8 5 2.4~0.3*20 ; val/loss: 15 8 6 2.2~0.5*21 ; val_acc: 0.6>0.64~0.05*24
    train/loss: 1055 700 400 300>190~20*30 ; val/loss: 580>170*12 ; val_acc: 0.12>0.23*12
Stays quiet:
    train/loss: 94 16 8 5 0.6~0.05*20 ; val/loss: 15 8 6 0.6~0.05*21 ; val_acc: 0.6>0.64~0.05*24
    train/loss: 147 140>60~3*30 ; val/loss: 145>65*12 ; val_acc: 0.12>0.7*12
    train/loss: 2.38>1.9*18 ; val/loss: 2.23>1.89*18 ; val_acc: 0.17>0.24*18
    train/loss: 4.5 3>2.7*8 2.65~0.005*9 ; val/loss: 3.3>2.7*18 ; val_acc: 0.2>0.29*18
    train/loss: 2.3>0.2~0.01*400 ; train/accuracy: 0.1>0.95*40 ; val/accuracy: 0.1>0.94*40
Try next: overfit 1,000 samples with a model twice as wide; if that works the capacity is the
    limit, if not look at labels and features.
"""

from __future__ import annotations

import math
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
from .levels import begins_at_start, is_warming_up, shape_of
from .outcomes import (
    accuracy,
    binned_fraction,
    chance_loss,
    classes,
    is_fine_tuning,
    may_be_fine_tuning,
)
from .overpriced import costs_more_than_a_guess

_MIXED = 0.04
_DROWNING = 0.85
"""Share of the units that nobody drops on purpose."""


@analyzer
@dataclass(frozen=True, slots=True)
class Underfitting:
    """Compares flat accuracies of both splits with what could be reached."""

    id: ClassVar[str] = "underfitting"
    roles: ClassVar[tuple[str, ...]] = (
        "train/accuracy",
        "val/accuracy",
        "train/loss",
        "val/loss",
    )
    events: ClassVar[tuple[str, ...]] = ()
    low: float = 0.7
    poor: float = 0.5
    """Accuracy below which a complete run is underfitted even if it still creeps on."""
    least_share: float = 0.4
    near_guess: float = 0.6
    """Share of the loss of guessing above which a complete run has learned too little."""
    most_classes: float = 200.0
    few_classes: float = 16.0
    seldom: float = 0.3
    least_epochs: int = 12

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge by accuracies, then by what the answers cost."""
        found = list(self._by_outcomes(view))
        if not any(finding.is_alarm for finding in found):
            found = list(costs_more_than_a_guess(view, self.id)) or found
        yield from found

    def _by_outcomes(self, view: RunView) -> Iterator[Finding]:
        train, val = view.curve("train/accuracy"), view.curve("val/accuracy")
        if train is None or val is None:
            yield from list(self._by_loss(view)) or self._by_validation(view)
            return
        if len(val) < 5 or not view.facts.is_monotone:
            return
        if view.facts.is_cyclic or not begins_at_start(train):
            return
        if view.settings.number("vocab_size") is not None or is_warming_up(view, train):
            return
        reached, measured = binned_fraction(train), binned_fraction(val)
        if not np.isfinite(reached).all() or classes(view) == 2 or len(reached) < 4:
            return
        fitted = float(np.median(reached[-max(3, len(reached) // 10) :]))
        now = float(np.median(measured[-max(3, len(measured) // 10) :]))
        known = classes(view)
        learned = known is None or fitted > 2.0 / known
        if fitted >= self.low or fitted - now > 0.1 or not learned:
            return
        flat = self._flat_since(reached)
        is_drowned = max(fitted, now) < self.poor and len(reached) >= 10 and _is_drowned(view)
        is_result = fitted < self.poor and self._is_complete(view, train)
        if flat is None and not is_result and not is_drowned:
            return
        since = min((flat or 0) * train.bin_width, len(train) - 1)
        course = (
            f"ends at {fitted:.3g} after {len(train)} values"
            if flat is None
            else f"is flat at {fitted:.3g} since {train.axis_name} {train.step(since):.10g}"
        )
        yield Finding(
            id=self.id,
            title=f"{train.name} {course}, with {val.name} at {now:.3g}: "
            + ("both stay low together" if now < fitted + 0.1 else "the training set is the worse"),
            severity=Severity.WARNING
            if known is not None
            or is_drowned
            or (now > fitted + 0.2 and not _is_made_harder(view) and not _is_mixed(reached))
            else Severity.INFO,
            confidence=finding_confidence(Basis.RESEARCH, 0.7),
            basis=Basis.RESEARCH,
            evidence=(train.evidence(since, len(train) - 1), val.evidence(len(val) - 1)),
            first_step=None if flat is None else train.step(since),
            details={"accuracy": fitted, "validation": now},
        )

    def _by_validation(self, view: RunView) -> Iterator[Finding]:
        """A classifier of a few classes whose losses level out together, hardly below a guess."""
        loss, val, right = view.curve("train/loss"), view.curve("val/loss"), accuracy(view, "val")
        shape = shape_of(loss) if loss is not None else None
        if loss is None or val is None or right is None or shape is None:
            return
        if not view.facts.is_monotone or view.facts.is_cyclic:
            return
        if is_fine_tuning(view) or may_be_fine_tuning(view, loss):
            return
        if min(len(loss), len(val), len(right)) < self.least_epochs or not begins_at_start(loss):
            return
        hits, costs = binned_fraction(right), val.bins[2]
        if not np.isfinite(hits).all() or not np.isfinite(costs).all():
            return
        began, reached = max(shape.first, float(costs[0])), float(np.median(hits[-3:]))
        # Among more classes, or tokens, being right seldom is no shame.
        if not 1.3 < began < math.log(self.few_classes) or is_warming_up(view, loss):
            return
        measured = float(np.median(costs[-3:]))
        is_low = reached < 3.0 * math.exp(-began) and reached < self.seldom
        is_shared = abs(measured - shape.last) < 0.1 * abs(shape.last)
        third = max(2, len(shape.levels) // 3)
        late = float(shape.levels[-third] - np.median(shape.levels[-2:]))
        is_level = shape.fall > 0 and late < 0.15 * shape.fall
        # What is where it began has not learned, which is another finding.
        has_hardly_learned = 0.7 * began < shape.last < 0.98 * began
        if not (is_low and is_shared and is_level and has_hardly_learned):
            return
        yield Finding(
            id=self.id,
            title=f"{loss.name} levels out at {shape.last:.4g} and {val.name} at {measured:.4g} "
            f"after {began:.4g}, with {right.name} at {reached:.3g}: both stay bad together",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.RESEARCH, 0.65),
            basis=Basis.RESEARCH,
            evidence=(
                loss.evidence(0, len(loss) - 1),
                right.evidence(0, len(right) - 1),
                val.evidence(len(val) - 1),
            ),
            details={"level": shape.last},
        )

    def _by_loss(self, view: RunView) -> Iterator[Finding]:
        """Both losses near that of a guess when all planned steps are done."""
        loss, val = view.curve("train/loss"), view.curve("val/loss")
        known, guess = classes(view), chance_loss(view)
        shape = shape_of(loss) if loss is not None else None
        if loss is None or val is None or shape is None or known is None or guess is None:
            return
        if known > self.most_classes or view.settings.number("vocab_size") is not None:
            return
        if len(val) < 3 or not view.facts.is_monotone or not self._is_complete(view, loss):
            return
        measured = float(np.median(val.y[-3:]))
        is_shared = abs(measured - shape.last) < 0.15 * abs(shape.last)
        if not is_shared or not self.near_guess * guess < shape.last < 0.97 * guess:
            return
        yield Finding(
            id=self.id,
            title=f"{loss.name} ends at {shape.last:.4g} and {val.name} at {measured:.4g}, where "
            f"guessing gives {guess:.4g}: both stay bad together",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.RESEARCH, 0.65),
            basis=Basis.RESEARCH,
            evidence=(loss.evidence(0, len(loss) - 1), val.evidence(len(val) - 1)),
            details={"level": shape.last},
        )

    def _is_complete(self, view: RunView, curve: Curve) -> bool:
        """All planned steps are done, so what was reached is the result."""
        planned = view.planned_steps
        is_counted = planned is not None and curve.axis_name == "step"
        return is_counted and float(curve.x[-1]) >= 0.97 * (planned or 0.0)

    def _flat_since(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int | None:
        width = max(1, len(values) // 20)
        sums = np.concatenate([[0.0], np.cumsum(values)])
        smooth = (sums[width:] - sums[:-width]) / width
        end = float(np.median(smooth[-max(2, len(smooth) // 5) :]))
        spread = 1.4826 * float(np.median(np.abs(np.diff(smooth[len(smooth) // 2 :]))))
        third = len(smooth) // 3
        still = float(np.mean(smooth[-third:]) - np.mean(smooth[-2 * third : -third]))
        if third >= 3 and still > max(0.01 * end, 2 * spread / np.sqrt(third)):
            return None
        outside = np.flatnonzero(np.abs(smooth - end) > max(0.02, 6 * spread))
        since = int(outside[-1]) + 1 if len(outside) else 0
        return since if len(smooth) - since >= self.least_share * len(smooth) else None


def _is_drowned(view: RunView) -> bool:
    """Nearly all of what a layer says is dropped, so that hardly anything can be learned."""
    return any(
        "dropout" in setting.path.casefold() and _DROWNING <= (setting.number or 0.0) <= 1.0
        for setting in view.settings
    )


def _is_mixed(reached: Floats) -> bool:
    """Whole epochs that differ far more than samples do by chance: each was made harder anew."""
    later = reached[len(reached) // 2 :]
    return len(later) >= 4 and float(np.median(np.abs(np.diff(later)))) > _MIXED


def _is_made_harder(view: RunView) -> bool:
    """Training samples are mixed, cut or dropped on purpose, so that validation is easier."""
    for setting in view.settings:
        name = setting.path.casefold()
        if any(word in name for word in ("mixup", "cutmix", "augment", "drop_path", "cutout")):
            return True
        if "dropout" in name and (setting.number or 0.0) >= 0.3:
            return True
    return False

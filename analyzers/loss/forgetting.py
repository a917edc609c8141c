"""forgetting: something learned earlier is lost while training goes on.

What it sees: an accuracy (or a loss) of one task, domain or of the validation set that had become
    good, then falls back by more than half of what was won and stays there, while the training
    loss is as low as ever.
Why it matters: the newest data overwrite what the older taught; the final model does only the
    last task.
Fires on:
    task1/val_accuracy: 0.1>0.95*10 0.9 0.5 0.2 0.1 0.1 0.12 ; train/loss: (2>0.1~0.01*80)*2
Stays quiet:
    task1/val_accuracy: 0.1>0.95*10 0.94*6 ; train/loss: 2>0.1~0.01*160
Try next: mix old data back in (replay 10-20 %), lower the learning rate for the new task, or
    freeze the shared layers.
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
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .outcomes import as_fraction

_TASK = re.compile(
    r"\b(?:task|domain|dataset|old|previous|source|lang|subset|phase|stage)\b|\btask\w"
)


@analyzer
@dataclass(frozen=True, slots=True)
class Forgetting:
    """Looks for outcomes that were good and are not any more."""

    id: ClassVar[str] = "forgetting"
    roles: ClassVar[tuple[str, ...]] = ("val/accuracy", "val/loss", "train/accuracy")
    events: ClassVar[tuple[str, ...]] = ()
    lost: float = 0.5
    """Share of the gain that must be gone."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at accuracies first, then at losses of single tasks."""
        if not view.facts.is_monotone:
            return
        for curve in view.all_curves():
            bare = (curve.series.role or "").rpartition("/")[2]
            is_task = bool(_TASK.search(normalise(curve.name)))
            if len(curve) < 6 or bare not in ("accuracy", "loss"):
                continue
            if not is_task and (bare == "loss" or not curve.role.startswith(("val/", "test/"))):
                continue
            values = as_fraction(curve) if bare == "accuracy" else -curve.y
            if not np.isfinite(values).all():
                continue
            best = self._lost_since(values)
            if best is not None and (is_task or self._training_is_fine(view, curve, best)):
                yield self._report(curve, best)

    def _lost_since(self, goodness: Floats) -> int | None:
        smooth = np.array(
            [np.median(goodness[max(0, i - 1) : i + 2]) for i in range(len(goodness))]
        )
        best = int(np.argmax(smooth))
        gain = float(smooth[best] - smooth[0])
        now = float(np.median(goodness[-3:]))
        if len(goodness) - best < 4 or gain <= 0:
            return None
        jitter = float(np.median(np.abs(np.diff(goodness))))
        dropped = float(smooth[best]) - now
        return best if dropped > self.lost * gain and dropped > 4 * jitter else None

    def _training_is_fine(self, view: RunView, curve: Curve, best: int) -> bool:
        """Else the whole training is lost, which is another finding."""
        loss = view.curve("train/loss")
        if loss is None:
            return False
        at = int(np.clip(np.searchsorted(loss.x, curve.step(best)), 1, len(loss) - 1))
        few = max(1, min(16, len(loss) // 20))
        then, now = np.median(loss.y[max(0, at - few) : at]), np.median(loss.y[-few:])
        return bool(np.isfinite(now) and now <= 1.2 * then and curve.name != loss.name)

    def _report(self, curve: Curve, best: int) -> Finding:
        last = float(np.median(curve.y[-3:]))
        return Finding(
            id=self.id,
            title=f"{curve.name} was {curve.y[best]:.3g} at {curve.axis_name} "
            f"{curve.step(best):.10g} and is {last:.3g} now, while training goes on",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(best, len(curve) - 1),),
            first_step=curve.step(min(best + 1, len(curve) - 1)),
            details={"best": float(curve.y[best]), "now": last},
        )

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
            _, _, mean, _, _, counts = curve.bins
            if (counts == 0).any():
                continue
            if curve.only_changes:
                # A bar tells only changes; what it goes on to show was measured again.
                silent = (_end_of_training(view) - float(curve.x[-1])) / max(curve.spacing, 1e-12)
                mean = np.concatenate([mean, np.repeat(mean[-1:], int(np.clip(silent, 0, 8)))])
            best = self._lost_since(mean if bare == "accuracy" else -mean)
            if best is None:
                continue
            position = min(best * curve.bin_width, len(curve) - 1)
            if is_task or self._training_is_fine(view, curve, position):
                yield self._report(curve, position)

    def _lost_since(self, goodness: Floats) -> int | None:
        padded = np.concatenate([goodness[:1], goodness, goodness[-1:]])
        smooth = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
        best = int(np.argmax(smooth))
        gain = float(smooth[best] - smooth[0])
        now = float(np.median(goodness[-3:]))
        if len(goodness) - best < 4 or gain <= 0:
            return None
        jitter = float(np.median(np.abs(np.diff(goodness))))
        dropped = float(smooth[best]) - now
        if dropped <= self.lost * gain or dropped <= 4 * jitter:
            return None
        # The best may be long ago: what counts is when it was last nearly as good.
        return int(np.flatnonzero(goodness >= smooth[best] - 0.1 * dropped)[-1])

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


def _end_of_training(view: RunView) -> float:
    """The last step that the training loss reached."""
    loss = view.curve("train/loss")
    return float(loss.x[-1]) if loss is not None and len(loss) else 0.0

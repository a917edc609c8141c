"""forgetting: something learned earlier is lost while training goes on.

What it sees: an accuracy (or a loss) of one task, domain or of the validation set that had become
    good, then falls back by more than half of what was won and stays there, while the training
    loss is as low as ever; an old task that gets worse and worse while a new one is learned; one of
    several that is lost where another is won; a reward that rose and then fell back for good. What
    goes up and down all along was never known.
Why it matters: the newest data overwrite what the older taught; the final model does only the
    last task.
Fires on:
    task1/val_accuracy: 0.1>0.95*10 0.9 0.5 0.2 0.1 0.1 0.12 ; train/loss: (2>0.1~0.01*80)*2
    val_accuracy: 98 99 99 1 0 0 ; train/loss: 2>0.02~0.001*60 3>0.05~0.001*60
    val_loss: 0.5>0.2*8 0.5 0.52~0.01*8 ; train/loss: 1>0.15~0.005*60 0.3>0.15~0.005*60
    old_loss: 4.2 4.6>5.6*14 ; train/loss: 4.4>1.1~0.02*60
    acc_A: 72 95*10 54 20 9*10 ; acc_B: 20 12*10 52 76 90*10 ; train/loss: 1.5>0.1*11 2.6>0.3*12
    reward: 20>120~8*60 120>9~4*10 9~1*90
Stays quiet:
    reward: 20>180~15*100 120~15*8 180~15*60
    acc_A: 72 95*10 91 94 95*10 ; acc_B: 20 12*10 52 76 90*10 ; train/loss: 1.5>0.1*11 2.6>0.3*12
    acc_A: 72 90 95*9 95*12 ; acc_B: 25 13 12*9 11*12 ; train/loss: 1.5>0.1*23
    val_accuracy: (0.2 0.4 0.5 0.16*5)*6 0.16*4 ; train/loss: 6 4 3 2>1.4~0.1*9 1.5~0.1*40
    old_loss: 1.19 1.21 1.22 1.225 1.23 1.226 ; train/loss: 1.85>1.65~0.05*60
    val_loss: 0.5>0.2*8 0.2>0.5*8 ; train/loss: 1>0.05~0.005*120
    task1/val_accuracy: 0.1>0.95*10 0.94*6 ; train/loss: 2>0.1~0.01*160
    val_accuracy: 0 0.25 0.25 0.24 0.01 0 0 0 0.01 ; train/loss: 0.71>0.693~0.0001*60
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
from ..core.siblings import siblings_of
from ..core.view import RunView
from ..resources.trends import rank_correlation
from .levels import first_level
from .lost_reward import lost_reward

_TASK = re.compile(
    r"\b(?:task|domain|dataset|old|previous|source|lang|subset|phase|stage)\b|\btask\w"
)
_OLD = re.compile(r"\b(?:old|previous|prev|base|source|pretrain(?:ed|ing)?|original)\b")

MOST = 4096
"""Points: an evaluation of every task is not made more often."""


@analyzer
@dataclass(frozen=True, slots=True)
class Forgetting:
    """Looks for outcomes that were good and are not any more."""

    id: ClassVar[str] = "forgetting"
    roles: ClassVar[tuple[str, ...]] = ("val/accuracy", "val/loss", "train/accuracy", "reward")
    events: ClassVar[tuple[str, ...]] = ()
    faded: float = 0.1
    """Share of what an old task could that is gone."""
    lost: float = 0.5
    """Share of the gain that must be gone."""
    learned: float = 0.05
    """Share of its first value that the training loss must have lost by then."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Each task that was lost; of the validation as a whole, what shows it best."""
        yield from lost_reward(view, self.id)
        if not view.facts.is_monotone:
            return
        loss = view.curve("train/loss")
        axis = loss.axis_name if loss is not None else "step"
        whole: list[tuple[tuple[bool, bool], Finding]] = []
        exchanged: list[Finding] = []
        for curve in view.all_curves():
            is_task = bool(_TASK.search(normalise(curve.name)))
            found = self._judge(view, curve, is_task=is_task)
            if found is not None and is_task:
                yield found
            elif not is_task and (lost := self._exchanged(view, curve)) is not None:
                exchanged.append(lost)
            elif found is not None:
                # On the axis of the training, and an accuracy rather than a loss.
                rank = (curve.axis_name != axis, not curve.role.endswith("accuracy"))
                whole.append((rank, found))
        if exchanged:
            yield max(exchanged, key=lambda found: found.number("is_share"))
        elif whole:
            yield min(whole, key=lambda pair: pair[0])[1]

    def _judge(self, view: RunView, curve: Curve, *, is_task: bool) -> Finding | None:
        bare = (curve.series.role or "").rpartition("/")[2]
        if len(curve) < 6 or bare not in ("accuracy", "loss"):
            return None
        if not is_task and not curve.role.startswith(("val/", "test/")):
            return None
        _, _, mean, _, _, counts = curve.bins
        if (counts == 0).any():
            return None
        if curve.only_changes:
            # A bar tells only changes; what it goes on to show was measured again.
            silent = (_end_of_training(view) - float(curve.x[-1])) / max(curve.spacing, 1e-12)
            mean = np.concatenate([mean, np.repeat(mean[-1:], int(np.clip(silent, 0, 8)))])
        is_share = bare == "accuracy"
        if _OLD.search(normalise(curve.name)) and self._gets_worse(mean if is_share else -mean):
            return self._report(curve, 0, is_task=True)
        best = self._lost_since(mean if is_share else -mean, is_share=is_share)
        if best is not None and not is_task and _wanders(mean if is_share else -mean):
            return None
        if best is None or (bare == "loss" and not is_task and not _is_sudden(mean, best)):
            return None  # what rises slowly overfits
        position = min(best * curve.bin_width, len(curve) - 1)
        if not is_task and not self._training_is_fine(view, curve, position):
            return None
        return self._report(curve, position, is_task=is_task)

    def _exchanged(self, view: RunView, curve: Curve) -> Finding | None:
        """One of several tasks that had been learned is lost where another is won."""
        if not 8 <= len(curve) <= MOST or not np.isfinite(values := curve.y).all():
            return None
        is_share = (curve.series.role or "").endswith("accuracy")
        goodness = values if is_share else -values
        best = self._lost_since(goodness, is_share=is_share)
        if best is None or not _was_known(goodness, best, is_share=is_share):
            return None
        for other in siblings_of(view, curve):
            if np.isfinite(other.y).all() and _was_won(other.y if is_share else -other.y, best):
                return self._report(curve, best, is_task=True, is_share=is_share)
        return None

    def _gets_worse(self, goodness: Floats) -> bool:
        """What was learned before this log begins fades by more than a tenth, nearly all along."""
        begin, end = float(np.median(goodness[:2])), float(np.median(goodness[-3:]))
        fades = begin - end > self.faded * abs(begin)
        return fades and rank_correlation(goodness) < -0.6

    def _lost_since(self, goodness: Floats, *, is_share: bool) -> int | None:
        padded = np.concatenate([goodness[:1], goodness, goodness[-1:]])
        smooth = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
        best = int(np.argmax(smooth))
        gain = float(smooth[best] - smooth[0])
        if is_share:
            # What was good at the first look was won before it.
            gain = max(gain, float(smooth[best]))
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
        first = first_level(loss)
        if first - then < self.learned * abs(first):
            return False  # it never knew what it could forget: the validation guesses
        # Near its floor a loss may double without anything being lost.
        most = max(1.2 * then, then + 0.1 * (first - then))
        return bool(np.isfinite(now) and now <= most and curve.name != loss.name)

    def _report(self, curve: Curve, best: int, *, is_task: bool, is_share: bool = False) -> Finding:
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
            details={
                "best": float(curve.y[best]),
                "now": last,
                "of_a_task": float(is_task),
                "is_share": float(is_share),
            },
        )


def _was_known(goodness: Floats, best: int, *, is_share: bool) -> bool:
    """Half of all were right, or most of a first loss was gone."""
    if is_share:
        scale = 100.0 if float(goodness.max()) > 1.5 else 1.0
        return float(goodness[best]) >= 0.5 * scale
    first = -float(goodness[0])
    return first > 0 and -float(goodness[best]) < 0.7 * first


def _was_won(goodness: Floats, since: int) -> bool:
    """Better by half of all that it ever ranged over, and at its best now."""
    before, now = float(np.median(goodness[: since + 1][-3:])), float(np.median(goodness[-3:]))
    span = float(np.ptp(goodness))
    return span > 0 and now - before > 0.5 * span and now > float(goodness.max()) - 0.2 * span


def _wanders(goodness: Floats) -> bool:
    """It was as bad as now again and again between the places where it was good."""
    now = float(np.median(goodness[-3:]))
    drop = float(np.quantile(goodness, 0.98)) - now
    high = np.flatnonzero(goodness > now + 0.6 * drop)
    if drop <= 0 or len(high) < 2:
        return False
    between = goodness[high[0] : high[-1]]
    falls = np.flatnonzero(np.diff((between <= now + 0.15 * drop).astype(int)) > 0)
    return len(falls) >= 2


def _is_sudden(losses: Floats, best: int) -> bool:
    """A quarter above its best or more, and most of that came within two evaluations."""
    low = float(losses[best])
    rise = float(np.median(losses[-3:])) - low
    soon = losses[best + 1 : best + 3]
    if rise < 0.25 * abs(low) or len(soon) == 0:
        return False
    return float(np.max(soon)) - low > 0.6 * rise


def _end_of_training(view: RunView) -> float:
    """The last step that the training loss reached."""
    loss = view.curve("train/loss")
    return float(loss.x[-1]) if loss is not None and len(loss) else 0.0

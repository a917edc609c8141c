"""suspicious_metric: a metric shows what it cannot show, or does not fit the others.

What it sees: accuracies outside of their range, perplexities below 1, negative scores that have
    none; scores that are all 0 in every evaluation; a validation metric that is the same to the
    last digit in every evaluation while the loss moves; a validation loss many times the training
    loss from the first evaluation on; a classification loss that stops exactly at the floor of a
    softmax applied twice; text that is foretold without error early on, or a first loss above
    that of any guess; an accuracy that does not move while its own loss is nearly gone; a training
    loss below 0 beside a validation loss above 0 that only got worse.
Why it matters: decisions rest on these numbers; a wrong one hides what the model really does.
Fires on:
    train/loss: 2>0.5~0.01*200 ; val/accuracy: 1.7 1.8 1.9 2.1 2.2 ; train/accuracy: 0.5 0.6 0.7
    train/loss: 2.3>0.1~0.01*300 ; val/loss: 2.4 2.5 2.45 2.5 2.4 2.45
    train/loss: 2.3>1.48*200 1.465*200 ; accuracy: 0.2>0.99*40 ; config: num_classes=10
    train/loss: 1.6>1*9 0.95*9 ; accuracy: 0.95*18 ; val/loss: 1.5>1*9 0.95*9 ; val_acc: 0.95*9
    train/loss: 2.08>1.5*40 ; acc: 0.13>0.75*40 ; val/loss: 1.9 1.6 1.504*10 ; val_acc: 0.77*12
    train/loss: 2.3 2.2>1.62~0.05*90 ; val/loss: 2 1.67 1.61~0.004*12 ; val_acc: 0.6 0.83 0.852*12
    loss: 2.24 1.96>1.66*19 ; acc: 0.22 0.5>0.8*19 ; val_loss: 2 1.71*19 ; val_acc: 0.46 0.75*19
    train/loss: 4.5>0.05*20 0.003*80 ; tokens_per_second: 900~20*100
    train/loss: 2.3>0.07*30 ; val/loss: 2>0.2*30 ; val_bpc: 2.9>0.4*10 0.3*20
    train/loss: 36>4*20 3~0.1*80 ; tokens_per_second: 900~20*100
    train/loss: -70 -4e3 -2e5 -5e6 -9e7 -6e8 -1e9 -2e9 -2.9e9
    train/loss: 2>0.5~0.01*60 ; val_dice: 1.9 1.95 1.96
    train/loss: 2>1.1~0.01*60 ; map: 0*20
    train/loss: 1.4>0.01*13 ; train/accuracy: 0.25*13 ; val/loss: 1.2>0.02*13
    train/loss: 1.1>0.6*10 ; train_acc: 0.5>0.7*10 ; val/loss: 1.5~0.1*10 ; val_acc: 0.24~0.02*10
    train/loss: 1.1>0.1~0.01*60 ; accuracy: 0.6>1.4~0.02*60
    train/loss: -0.71 -0.82 -0.845~0.002*16 ; val/loss: 1.38 1.63 1.49~0.005*16
    train/loss: 2.3 0.6 0.06>0.003*13 ; val/loss: 5.17 5.25 5.27 5.29 5.33*11
Stays quiet:
    train/loss: 2.3 0.6 0.06>0.003*13 ; val/loss: 2.4 2.45 2.5 2.52 2.6>3.4*11
    train/loss: 0.3 0.2 0.15>0.002*97 ; val/loss: 0.68 0.69 0.7 0.71>1.04*97
    loss: 2.24 1.96>0.7*19 ; accuracy: 0.22 0.5>0.8*19 ; val_loss: 2 0.8*19 ; val_acc: 0.46 0.75*19
    train/loss: 2.3>0.9*30 ; val/loss: 2>1*30 ; val_bpc: 2.9>1.4*30
    train/loss: 2.3 2.2>1.62~0.05*90 ; val/loss: 2 0.9 0.6~0.01*12 ; val_acc: 0.6 0.83 0.852*12
    train/loss: -0.71>-0.9*18 ; val/loss: 2.3>1.1*18
    train/loss: -0.71>-0.9*18 ; val/loss: -0.5>-0.4*18
    train/loss: 2>1.1~0.01*60 ; map: 0*20 ; accuracy: 0.1>0.3*20
    train/loss: 2.08>0.9*40 ; acc: 0.13>0.75*40 ; val/loss: 1.9 1.1 0.85*10 ; val_acc: 0.77*12
    train/loss: 6.9>6.2~0.01*60 ; accuracy: 0.1>1.4~0.02*60
    train/loss: 0.08>0.001*13 ; train/accuracy: 0.25*13
    train/loss: 0.69>0.33*20 ; train/accuracy: 0.9*20
    train/loss: 4.5>0.05*20 0.003*80 ; step_time: 0.9~0.02*100
    train/loss: 0.7>0.1*6 0.01*14 ; val/loss: 0.69 0.66 0.68 0.7 0.8 1>2.9*15
    train/loss: 2.3>1*9 0.8*9 ; accuracy: 0.95*18 ; val/loss: 2>1*9 0.8*9 ; val_acc: 0.95*9
    train/loss: 2>0.5~0.01*200 ; val/accuracy: 55 61 67 72 75 ; val/loss: 2 1.5 1.2 1.0 0.8
Try next: recompute the metric by hand on a hundred samples; evaluate training samples through the
    validation pipeline.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .apart import bad_from_the_start
from .contradictions import contradictions
from .effortless import no_surprise
from .inverted import opposite_signs
from .levels import begins_at_start, shape_of
from .memorised import guessing_validation
from .outcomes import chance_loss
from .squashed import softmax_twice

_OUTCOMES = ("score", "accuracy")


@analyzer
@dataclass(frozen=True, slots=True)
class SuspiciousMetric:
    """Checks metrics against what they can be and against each other."""

    id: ClassVar[str] = "suspicious_metric"
    roles: ClassVar[tuple[str, ...]] = (
        "train/accuracy",
        "val/accuracy",
        "val/loss",
        "train/perplexity",
        "score",
    )
    events: ClassVar[tuple[str, ...]] = ()
    wild: float = 3.0
    """First loss in multiples of that of guessing that no usual initialisation gives."""
    steady: float = 0.03
    """Share by which the first losses differ where nothing but guesses are summed."""
    least_zeros: int = 10
    """Evaluations after which a metric that was always 0 is not waited for."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Ranges, then agreement."""
        yield from self._out_of_range(view)
        yield from self._never_right(view)
        yield from self._bottomless(view)
        yield from opposite_signs(view, self.id)
        yield from list(bad_from_the_start(view, self.id)) or guessing_validation(view, self.id)
        yield from softmax_twice(view, self.id)
        yield from self._wild_start(view)
        yield from list(self._too_good(view)) or no_surprise(view, self.id)
        yield from contradictions(view, self.id)

    def _out_of_range(self, view: RunView) -> Iterator[Finding]:
        for curve in view.all_curves():
            bare = (curve.series.role or "").rpartition("/")[2]
            words = set(normalise(curve.name).split())
            low, high = -math.inf, math.inf
            if bare == "accuracy":
                low, high = 0.0, self._most_accuracy(view, curve)
            elif bare == "perplexity":
                low = 1.0 - 1e-6
            elif words & {"fid", "fid50k", "mse", "rmse", "mae"}:
                low, high = 0.0, 1e9
            elif words & _SHARES and "loss" not in words:
                low, high = 0.0, _most_of_a_share(curve)
            else:
                continue
            _, _, _, least, most, counts = curve.bins
            if not np.any((counts > 0) & ((least < low) | (most > high))):
                continue
            wrong = np.isfinite(curve.y) & ((curve.y < low) | (curve.y > high))
            if wrong.any():
                yield self._finding(curve, int(np.argmax(wrong)), "which it cannot be")

    def _never_right(self, view: RunView) -> Iterator[Finding]:
        """All that measures how good the model is says 0, in every evaluation.

        A single class or a strict score may be 0 for long; all of them may not.
        """
        told = [c for c in view.all_curves() if (c.series.role or "").endswith(_OUTCOMES)]
        if not told or view.curve("train/loss") is None:
            return
        longest = max(told, key=len)
        if len(longest) < self.least_zeros or any(np.any(curve.y != 0) for curve in told):
            return
        yield Finding(
            id=self.id,
            title=f"{longest.name} is 0 in all of {len(longest)} evaluations: the metric does not "
            "see what the model puts out, or the model puts out nothing",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85),
            basis=Basis.OBSERVATION,
            evidence=(longest.evidence(0, len(longest) - 1),),
            first_step=longest.step(0),
            details={"kind": "zero"},
        )

    def _most_accuracy(self, view: RunView, curve: Curve) -> float:
        """1, unless this one or its sibling is in percent (or counts, which has no limit)."""
        largest = float(np.nanmax(curve.bins[4], initial=0.0))
        if largest <= 1.0 + 1e-6 or largest > 100.0 + 1e-6:
            return math.inf
        others = [c for r in ("train/accuracy", "val/accuracy") for c in view.curves(r)]
        fractions = [
            c
            for c in others
            if c is not curve and len(c) and float(np.nanmax(c.bins[4], initial=0.0)) <= 1.0
        ]
        is_percent = largest > 2.5
        return 1.0 if fractions and not is_percent else math.inf

    def _finding(self, curve: Curve, at: int, why: str) -> Finding:
        return Finding(
            id=self.id,
            title=f"{curve.name} is {curve.y[at]:.4g} at {curve.axis_name} {curve.step(at):.10g}, "
            f"{why}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(at),),
            first_step=curve.step(at),
            details={"kind": "range"},
        )

    def _bottomless(self, view: RunView) -> Iterator[Finding]:
        """A loss that falls below zero and on by orders of magnitude: its targets have no bound."""
        loss = view.curve("train/loss")
        if loss is None or len(loss) < 8 or not view.facts.is_monotone:
            return
        means = loss.bins[2]
        begin, end = abs(float(means[0])), float(np.median(means[-3:]))
        if not end < -1e3 * max(begin, 1.0):
            return
        below = int(np.argmax(means < -10 * max(begin, 1.0))) * loss.bin_width
        at = min(below, len(loss) - 1)
        yield Finding(
            id=self.id,
            title=f"{loss.name} fell to {end:.4g} and has no floor: a cross-entropy of targets "
            "outside of 0 to 1 does so",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(loss.evidence(0, len(loss) - 1),),
            first_step=loss.step(at),
            details={"kind": "bottomless"},
        )

    def _too_good(self, view: RunView) -> Iterator[Finding]:
        """Text that is foretold nearly without error early on: the answer is in the input."""
        loss = view.curve("train/loss")
        shape = shape_of(loss) if loss is not None else None
        if loss is None or shape is None or not _is_of_language(view, loss) or len(loss) < 24:
            return
        low = loss.bins[4] < 0.1
        if not begins_at_start(loss) or shape.first < 1.5 or not low[-1] or low.all():
            return
        since = len(low) - int(np.argmin(low[::-1]))
        if since > 0.4 * len(low):
            return
        first = min(since * loss.bin_width, len(loss) - 1)
        yield Finding(
            id=self.id,
            title=f"{loss.name} is below 0.1 since {loss.axis_name} {loss.step(first):.10g} and "
            f"{shape.last:.2g} at the end: no text is so easy to foretell",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.RESEARCH, 0.7),
            basis=Basis.RESEARCH,
            evidence=(loss.evidence(0, first), loss.evidence(len(loss) - 1)),
            first_step=loss.step(first),
            details={"kind": "too_good"},
        )

    def _wild_start(self, view: RunView) -> Iterator[Finding]:
        """A first loss many times that of a guess, gone after a few steps."""
        guess, loss = chance_loss(view), view.curve("train/loss")
        shape = shape_of(loss) if loss is not None else None
        if guess is None and loss is not None and _is_of_language(view, loss):
            guess = MOST_OF_A_GUESS
        if guess is None or loss is None or shape is None or not begins_at_start(loss):
            return
        first = float(loss.y[0])
        needed = 1.2 if guess == MOST_OF_A_GUESS else self.wild
        if not np.isfinite(first) or first < needed * guess or shape.last > 1.5 * guess:
            return
        # A guess costs the same whatever the batch: many of them, summed over time as in CTC, do
        # so, too. Who is sure of what is wrong errs by more in one batch than in the next.
        if len(loss) >= 8 and float(np.ptp(loss.y[:3])) < self.steady * first:
            return
        yield Finding(
            id=self.id,
            title=f"{loss.name} begins at {first:.4g}, {first / guess:.3g} times the "
            f"{guess:.4g} of guessing"
            + (" among a million tokens" if guess == MOST_OF_A_GUESS else ""),
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.RESEARCH, 0.75),
            basis=Basis.RESEARCH,
            evidence=(loss.evidence(0), loss.evidence(len(loss) - 1)),
            first_step=loss.step(0),
            details={"kind": "wild_start", "factor": first / guess},
        )


MOST_OF_A_GUESS = math.log(1e6)
"""What a guess among a million tokens costs; no vocabulary is larger."""
_LANGUAGE = re.compile(r"\b(?:lm loss|ppl|perplexity|tokens?|tps|tok s|mfu|wps)\b")


def _is_of_language(view: RunView, loss: Curve) -> bool:
    """Something in the log counts tokens, or the loss says so itself."""
    if view.settings.number("vocab_size") is not None:
        return True
    names = [loss.name, *(series.name for series in view.series if len(series))]
    return any(_LANGUAGE.search(normalise(name)) for name in names)


_SHARES = frozenset({"dice", "iou", "miou", "jaccard", "auc", "auroc", "f1"})
"""Scores between 0 and 1, or in percent."""


def _most_of_a_share(curve: Curve) -> float:
    """1, unless it is in percent or counts something."""
    largest = float(np.nanmax(curve.bins[4], initial=0.0))
    return 1.0 + 1e-6 if largest < 2.5 else math.inf

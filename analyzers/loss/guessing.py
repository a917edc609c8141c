"""Whether a classifier guesses: its loss is that of a guess among as many classes as it hits.

A guess among K classes costs log(K) and is right once in K times. Where loss and accuracy say the
same K, nobody has to know the number of classes: a model that learned anything is right more
often than its loss would allow a guess to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.finding import Evidence
from ..core.view import RunView
from .outcomes import accuracy, binned_fraction

MOST_CLASSES = 1000
_LOSS = 0.02
"""How far, as a share, the loss may be below that of a guess,"""
_MORE = 0.045
"""above it; steps that are too large make a guess that is too sure of itself;"""
_HITS = 0.35
"""and the accuracy from one in K."""
_DRIFT = 0.04
"""Share of its level that a loss on its way past a guess still falls by; a guess stays."""


@dataclass(frozen=True, slots=True)
class Guessing:
    """A guess among so many classes, and where it shows."""

    classes: int
    evidence: Evidence

    @property
    def loss(self) -> float:
        """What the guess costs."""
        return math.log(self.classes)


def guessing(view: RunView, loss: Curve, share: float = 0.5) -> Guessing | None:
    """The guess that the later share of a training loss and of its accuracy show."""
    level = _level(loss.bins[2], share)
    if level is None or not 0.5 < level < math.log(MOST_CLASSES):
        return None
    classes = round(math.exp(level))
    if _falls_through(loss.bins[2], share, math.log(max(2, classes))):
        return None
    # Too many classes to tell one number from the next: the accuracy decides.
    if classes < 2 or not -_LOSS <= level / math.log(classes) - 1.0 <= _MORE:
        return None
    for split in ("train", "val"):
        measured = accuracy(view, split)
        if measured is None or len(measured) < 3:
            continue
        hits = _level(binned_fraction(measured), share)
        if hits is None or hits * classes - 1.0 > _HITS:
            return None
        if hits * classes - 1.0 < -_HITS:
            continue  # batches of one class are mostly all wrong
        return Guessing(classes, measured.evidence(len(measured) - 1))
    return None


def _falls_through(means: Floats, share: float, guess: float) -> bool:
    """A loss that falls all the time passes what a guess among any number of classes costs."""
    later = means[-max(2, int(share * len(means))) :]
    later = later[np.isfinite(later)]
    third = len(later) // 3
    if third < 2:
        return False
    fallen = float(np.median(later[:third]) - np.median(later[-third:]))
    return fallen > _DRIFT * guess and float(later[-1]) < guess


def never_hit(view: RunView, guess: Guessing, best: float) -> bool:
    """True if no stretch of the run had a clearly lower loss or more hits than the guess."""
    if best < 0.85 * guess.loss:
        return False
    most = min(1.5 / guess.classes, 1.0 / guess.classes + 0.15)
    measured = [curve for split in ("train", "val") if (curve := accuracy(view, split)) is not None]
    for curve in measured:
        means = binned_fraction(curve)
        means = means[np.isfinite(means)]
        width = max(2, len(means) // 10)
        if len(means) < 5:
            return False
        if float(np.max(np.convolve(means, np.ones(width) / width, mode="valid"))) > most:
            return False
    return bool(measured)


def _level(means: Floats, share: float) -> float | None:
    """The level of the later bins, of which there are few however long the run is."""
    later = means[-max(2, int(share * len(means))) :]
    finite = later[np.isfinite(later)]
    return float(np.median(finite)) if len(finite) >= 2 else None

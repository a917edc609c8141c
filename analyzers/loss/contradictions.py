"""Accuracies that contradict the loss beside them: one of the two is computed wrongly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .outcomes import binned_fraction

_LEAST = 4
_MOST_RIGHT = 0.9
"""Above it every loss is small, and no contradiction is left."""
_AT_MOST = 2.5
"""An accuracy up to here is of 1, or a very low one in percent."""
_STILL_LOW = 10.0
"""So is one up to here, but answers of many parts may be wrong as a whole so often."""
_NEXT_TO_NOTHING = 0.05
"""Of the loss that goes with such a percentage: then not even many parts explain it."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Loss and accuracy of one split, as they began and as they end."""

    loss: Curve
    right: Curve
    cost: tuple[float, float]
    hits: tuple[float, float]


def contradictions(view: RunView, identity: str) -> Iterator[Finding]:
    """Hits over one, and hits that stay where they were while the loss is nearly gone."""
    if not view.facts.is_monotone:
        return
    pairs = [pair for split in ("train", "val") if (pair := _pair(view, split)) is not None]
    for pair in pairs:
        over = _over_one(pair)
        title = over or _unmoved(pair)
        if not title:
            continue
        loss, right = pair.loss, pair.right
        yield Finding(
            id=identity,
            title=title,
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(
                right.evidence(0, len(right) - 1),
                loss.evidence(0, len(loss) - 1),
            ),
            first_step=right.step(0),
            details={
                "kind": "range" if over else "contradiction",
                "beyond": pair.cost[0] / max(_surprise(pair.hits[0]), 1e-12),
            },
        )
        return


def _pair(view: RunView, split: str) -> _Pair | None:
    loss, right = view.curve(f"{split}/loss"), view.curve(f"{split}/accuracy")
    if loss is None or right is None or min(len(loss), len(right)) < _LEAST:
        return None
    cost, hits = _ends(loss.bins[2]), _ends(binned_fraction(right))
    if cost is not None:
        # Most of what it fell by may have gone within the first few values.
        cost = max(float(loss.bins[2][0]), cost[0]), cost[1]
    if cost is None or hits is None or min(*cost, *hits) <= 0:
        return None
    return _Pair(loss, right, cost, hits)


def _ends(means: Floats) -> tuple[float, float] | None:
    """Levels of the first and of the last fifth; of a handful, each counts."""
    if len(means) < _LEAST or not np.isfinite(means).all():
        return None
    few = len(means) // 5
    least = 2 if len(means) >= 2 * _LEAST else 1
    first, last = means[: max(1, few)], means[-max(least, few) :]
    return float(np.median(first)), float(np.median(last))


def _surprise(hits: float) -> float:
    """The least cross-entropy of somebody who is right so often, and knows how often."""
    return -math.log(min(max(hits, 1e-12), 1.0))


def _over_one(pair: _Pair) -> str:
    """More than all right; in percent it would be next to nothing, at a loss of next to nothing."""
    most = float(np.max(pair.right.bins[4]))
    share = 0.5 if most <= _AT_MOST else _NEXT_TO_NOTHING
    if not 1.0 + 1e-6 < most <= _STILL_LOW or pair.cost[1] > share * _surprise(most / 100.0):
        return ""
    return (
        f"{pair.right.name} reaches {most:.4g}, which no share can, with {pair.loss.name} at "
        f"{pair.cost[1]:.3g}"
    )


def _unmoved(pair: _Pair) -> str:
    """The loss says that nearly all is learned, the accuracy says nothing.

    They must have agreed in the beginning: a loss in another unit, or an accuracy of whole
    sequences, has never been that of the same guess.
    """
    (began, ends), (first, last) = pair.cost, pair.hits
    spread = float(np.ptp(binned_fraction(pair.right)))
    if last > _MOST_RIGHT or max(last - first, spread) > 0.1 * (1.0 - first):
        return ""
    agreed = began >= 0.7 * _surprise(first)
    if not agreed or ends > 0.5 * began or ends > 0.5 * _surprise(last):
        return ""
    return (
        f"{pair.right.name} stays at {last:.3g} while {pair.loss.name} fell from {began:.3g} to "
        f"{ends:.3g}: who is right so seldom cannot have so low a loss"
    )

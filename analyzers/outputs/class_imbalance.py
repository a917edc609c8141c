"""class_imbalance: some classes are so rare that the model does without them.

What it sees: class counts that differ more than tenfold; and that the model ignores the rare
    classes: accuracy equal to the share of the most common class, accuracy far over balanced
    accuracy, accuracy that never moved beside an F1 or a recall near 0, accuracy that stands still
    beside a recall of exactly 0, or classes that are hardly ever right while others nearly always
    are; of masks (Dice, IoU) most classes. Counts alone are only worth knowing. A model that
    computes NaN picks one class for that reason alone.
Why it matters: the accuracy looks good and hides that the rare classes are never predicted.
Fires on:
    val_acc: 0.5>0.93*10 0.93*10 ; val_balanced_acc: 0.3*20 ; train/loss: 1>0.3*20
    val_acc: 0.9*20 ; val_majority_share: 0.9*20 ; train/loss: 1>0.3*20
    val/recall_class_0: 0.99*9 ; val/recall_class_1: 0.02*9 ; train/loss: 1>0.3*9
    val_acc: 0.78~0.005*15 ; val_f1: 0*7 0>0.1*8 ; train/loss: 0.54>0.46*15
    val_pix_acc: 0.998*10 ; val_dice: 0*10 ; train/loss: 0.2>0.007*10
    val_acc: 0.43 0.62 0.8 0.93 0.97*12 ; val_recall: 0.6 0.4 0.2 0.1 0*12 ; train/loss: 0.9>0.15*16
    dice_0: 0.5>0.98*12 ; dice_1: 0.001*12 ; dice_2: 0.001*12 ; train/loss: 0.9>0.3*12
    val/iou_bg: 0.5>0.98*12 ; val/iou_fg: 0*12 ; train/loss: 0.9>0.3*12
    val/recall_normal: 0.99*12 ; val/recall_pvc: 0*12 ; val/recall_lbbb: 0*12 ; train/loss: 1>0.3*12
    val_acc: 0.972*12 ; val_f1_pos: 0*12 ; train/loss: 0.5>0.15*12
Stays quiet:
    val_acc: 0.54*12 ; val_recall: 0*12 ; train/loss: nan*60
    val_acc: 0.9>0.945*6 ; val_recall: 0.05>0.45*6 ; train/loss: 0.6>0.2*6
    val_acc: 0.43>0.97~0.01*16 ; val_recall: 0>0.4*16 ; train/loss: 0.9>0.15*16
    dice_0: 0.5>0.98*12 ; dice_1: 0>0.7*12 ; dice_2: 0>0.5*12 ; train/loss: 0.9>0.3*12
    iou_0: 0.9*9 ; iou_1: 0.8*9 ; iou_2: 0.6*9 ; iou_3: 0.5*9 ; iou_4: 0*9 ; train/loss: 1>0.3*9
    val_acc: 0.5>0.8*15 ; val_f1: 0>0.4*15 ; train/loss: 0.9>0.4*15
    val_acc: 0.5>0.93*10 0.93*10 ; val_balanced_acc: 0.4>0.9*10 0.9*10 ; train/loss: 1>0.3*20
    val_acc: 0.2>0.9*20 ; val_majority_share: 0.12~0.01*20 ; train/loss: 1>0.3*20
    val/recall_class_0: 0.5>0.9*9 ; val/recall_class_1: 0.2>0.8*9 ; train/loss: 1>0.3*9
Try next: weight the loss or resample by inverse frequency; report macro-F1 or balanced accuracy;
    look at the confusion matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.curve import SAMPLE, Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .class_counts import ClassCounts, class_counts

_BALANCED = re.compile(
    r"\b(?:balanced|macro|mean class|per class|uar)\b.*\b(?:acc\w*|recall)\b|uar"
)
_MAJORITY = re.compile(r"\bmajority\b.*\b(?:share|frac\w*|ratio|rate)\b")
_OF_RARE = re.compile(
    r"(?:(?:val|valid|validation|test|eval|train) )?(?:f1|f1 score|dice|dice score|iou|miou|"
    r"jaccard|recall|sensitivity|tpr|"
    r"true positive rate|(?:recall|f1|dice|iou) (?:pos\w*|fg|foreground)|"
    r"(?:pos\w*|fg|foreground) (?:recall|f1|dice|iou)|minority (?:recall|f1|acc\w*))"
)
"""What says how much of the rare class is found; micro averages would equal the accuracy."""
_PER_CLASS = re.compile(
    r"\b(?:acc|accuracy|recall)\b.*\b(?:class|label|cls)\b|"
    r"\b(?:class|label|cls)\b.*\b(?:acc|accuracy|recall)\b"
)
_OF_MASKS = re.compile(
    r"(?P<stem>(?:\w+ )?(?:dice|iou|jaccard|dsc|(?:recall|sensitivity)(?! \d)))"
    r"(?: (?:class|cls|label|c))? "
    r"(?!(?:loss|score|mean|avg|macro|micro|weighted|best|max|min|std|coef\w*|all|total|at|top\w*|k)\b)"
    r"\w+"
)
LEAST_EVALUATIONS = 3
_ENOUGH_FOR_MASKS = 8
"""Evaluations after which small things are found as well."""


@analyzer
@dataclass(frozen=True, slots=True)
class ClassImbalance:
    """Report the clearest sign that rare classes are ignored; else lopsided counts."""

    id: ClassVar[str] = "class_imbalance"
    roles: ClassVar[tuple[str, ...]] = ("val/accuracy", "train/accuracy")
    events: ClassVar[tuple[str, ...]] = ()
    least_ratio: float = 10.0

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Put counts and accuracies together."""
        counts = class_counts(view)
        ignored = None if _is_broken(view) else _ignored(view, counts)
        is_lopsided = counts is not None and counts.ratio > self.least_ratio
        if ignored is None and not is_lopsided:
            return
        evidence: list[Evidence] = []
        parts: list[str] = []
        if counts is not None and is_lopsided:
            evidence.append(counts.evidence)
            parts.append(
                f"the most common of {counts.classes} classes occurs {counts.ratio:.4g} times as "
                f"often as the rarest ({counts.majority:.0%} of all)"
            )
        step: float | None = None
        if ignored is not None:
            sentence, found, step = ignored
            parts.append(sentence)
            evidence.extend(found)
        basis = Basis.OBSERVATION if is_lopsided else Basis.RESEARCH
        yield Finding(
            id=self.id,
            title="; ".join(parts),
            severity=Severity.WARNING if ignored is not None else Severity.INFO,
            confidence=finding_confidence(basis, 0.9 if is_lopsided else 0.7),
            basis=basis,
            evidence=tuple(evidence),
            first_step=step,
            details={
                "ratio": min(counts.ratio, 1e12) if counts is not None else 0.0,
                "majority": counts.majority if counts is not None else 0.0,
                "is_ignored": float(ignored is not None),
            },
        )


_Ignored = tuple[str, list[Evidence], float]


def _ignored(view: RunView, counts: ClassCounts | None) -> _Ignored | None:
    """That the rare classes are ignored, in a sentence with its evidence and first step."""
    accuracy = _accuracy(view)
    if accuracy is not None:
        final = _final(accuracy)
        for curve in view.all_curves():
            name = normalise(curve.name)
            other = _final(curve)
            if final is None or other is None or curve is accuracy:
                continue
            if _BALANCED.search(name) and other < 0.7 * final and final - other > 0.25:
                return _compared(accuracy, final, curve, other)
            is_of_rare = _OF_RARE.fullmatch(name) is not None and final - other > 0.45
            if (
                is_of_rare
                and not _is_being_learned(curve, other)
                and (_stays(accuracy) or _is_settled(accuracy, curve))
            ):
                return _compared(accuracy, final, curve, other)
            if _MAJORITY.search(name) and other >= 0.6 and abs(other - final) < 0.02:
                return _compared(accuracy, final, curve, other)
        if final is not None and counts is not None and counts.majority >= 0.6:
            is_majority = abs(final - counts.majority) < 0.01
            if is_majority and counts.ratio > 10:
                start = _tail_start(accuracy)
                sentence = f"{accuracy.name} {final:.3g} is the share of the most common class"
                return sentence, [accuracy.evidence(start, len(accuracy) - 1)], accuracy.step(start)
    return _uneven(view) or _empty_masks(view)


def _is_being_learned(rare: Curve, level: float) -> bool:
    """More and more of it is found: slow, yet not ignored."""
    first, last = float(np.nanmedian(rare.y[:2])), float(rare.y[-1])
    scale = 100.0 if float(np.nanmax(rare.y)) > 1.5 else 1.0
    is_best = last >= 0.9 * float(np.nanmax(rare.y))
    return level > 0.25 and is_best and last - first > 0.15 * scale


def _is_settled(accuracy: Curve, rare: Curve) -> bool:
    """It got to the share of the common class by giving up the rare one, and stays at it."""
    tail, found = accuracy.y[_tail_start(accuracy) :], rare.y[_tail_start(rare) :]
    if len(rare) < 2 * LEAST_EVALUATIONS or not np.isfinite(tail).all():
        return False
    scale = 100.0 if float(tail.max()) > 1.5 else 1.0
    return bool(np.all(found == 0.0)) and float(np.ptp(tail)) < 0.005 * scale


def _empty_masks(view: RunView) -> _Ignored | None:
    """Background that is drawn well beside classes of which most are not drawn at all."""
    families: dict[str, list[tuple[float, Curve]]] = {}
    for curve in view.all_curves():
        found = _OF_MASKS.fullmatch(normalise(curve.name))
        level = _final(curve) if found and len(curve) >= _ENOUGH_FOR_MASKS else None
        if found is not None and level is not None:
            families.setdefault(found["stem"], []).append((level, curve))
    for members in families.values():
        empty = [m for m in members if m[0] < 0.02]
        high = max(members, key=lambda m: m[0])
        # Of many classes some are too rare for anyone.
        if len(members) >= 2 and 2 * len(empty) >= len(members) - 1 and empty and high[0] > 0.8:
            low, start = empty[0], _tail_start(empty[0][1])
            sentence = f"{low[1].name} is {low[0]:.2g} while {high[1].name} is {high[0]:.2g}"
            shown = [low[1].evidence(start, len(low[1]) - 1), high[1].evidence(len(high[1]) - 1)]
            return sentence, shown, low[1].step(start)
    return None


def _is_broken(view: RunView) -> bool:
    """The loss ends as NaN: what is predicted then says nothing about classes."""
    loss = view.curve("train/loss")
    return loss is not None and len(loss) > 0 and not bool(np.isfinite(loss.y[-5:]).any())


def _stays(accuracy: Curve) -> bool:
    """It hardly moved since the first evaluation: the share of the common class."""
    values = accuracy.y[np.isfinite(accuracy.y)]
    scale = 100.0 if len(values) and float(values.max()) > 1.5 else 1.0
    if len(values) < 5:
        return False
    moved = abs(float(np.median(values[-3:])) - float(np.median(values[:3]))) / scale
    return moved < 0.06


def _compared(accuracy: Curve, final: float, other: Curve, level: float) -> _Ignored:
    start = _tail_start(other)
    sentence = f"{accuracy.name} is {final:.3g} but {other.name} {level:.3g}"
    if _MAJORITY.search(normalise(other.name)):
        sentence = f"{accuracy.name} {final:.3g} is what {other.name} ({level:.3g}) gives"
    shown = [accuracy.evidence(len(accuracy) - 1), other.evidence(start, len(other) - 1)]
    return sentence, shown, other.step(start)


def _uneven(view: RunView) -> _Ignored | None:
    """Classes of which some are nearly always right and others hardly ever."""
    families: dict[str, list[tuple[float, Curve]]] = {}
    for curve in view.all_curves():
        name = normalise(curve.name)
        if _PER_CLASS.search(name) and (level := _final(curve)) is not None:
            stem = re.sub(r"(?<=class |label )\w+$|(?<=cls )\w+$|\d+", "#", name)
            families.setdefault(stem, []).append((level, curve))
    for members in families.values():
        low, high = min(members, key=lambda m: m[0]), max(members, key=lambda m: m[0])
        if len(members) >= 2 and low[0] < 0.1 and high[0] > 0.8:
            start = _tail_start(low[1])
            sentence = f"{low[1].name} is {low[0]:.2g} while {high[1].name} is {high[0]:.2g}"
            shown = [
                low[1].evidence(start, len(low[1]) - 1),
                high[1].evidence(len(high[1]) - 1),
            ]
            return sentence, shown, low[1].step(start)
    return None


def _accuracy(view: RunView) -> Curve | None:
    """The plain accuracy, on validation data where there is one."""
    for role in ("val/accuracy", "train/accuracy"):
        for curve in view.curves(role):
            name = normalise(curve.name)
            if not _BALANCED.search(name) and not _PER_CLASS.search(name):
                return curve
    return None


def _tail_start(curve: Curve) -> int:
    return max(0, len(curve) - min(SAMPLE, max(LEAST_EVALUATIONS, len(curve) // 4)))


def _final(curve: Curve) -> float | None:
    """Level over the last quarter, as a share; None if it is none or has hardly been measured."""
    tail = curve.y[_tail_start(curve) :]
    tail = tail[np.isfinite(tail)]
    if len(tail) < LEAST_EVALUATIONS:
        return None
    level = float(np.median(tail))
    if 1.0 < level <= 100.0:
        level /= 100.0
    return level if 0.0 <= level <= 1.0 else None

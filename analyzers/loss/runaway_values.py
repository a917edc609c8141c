"""Value functions that run away: estimates that grow without any reward behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .levels import begins_at_start, shape_of

_VALUES = re.compile(
    r"(?:.* )?(?:q(?:f|1|2)? (?:mean|values?|max|avg)|(?:mean|avg|max) q(?: values?)?|q values?)|q"
)
_EARNED = re.compile(r"(?:avg|mean|ma)(?: (?:r|ret|rew|score))? ?\d+|r|ret|rew|score")
"""What is earned, where no name says reward; means over episodes rather than single ones."""
_LOSS_GROWS = 1e3
_VALUES_GROW = 30.0
_LEAST = 30


def runaway_values(view: RunView, identity: str) -> Iterator[Finding]:
    """Estimates and their error grow by orders of magnitude while no more is earned."""
    reward, loss = _reward(view), view.curve("train/loss")
    found = [c for c in view.all_curves() if _VALUES.fullmatch(normalise(c.name))]
    if reward is None or loss is None or not found:
        return
    values = max(found, key=len)
    if min(len(values), len(loss), len(reward)) < _LEAST or not begins_at_start(loss):
        return
    if _earns_more(reward):
        return
    error, estimate = _growth(loss), _growth(values)
    if error is None or estimate is None:
        return
    if error[1] < _LOSS_GROWS * error[0] or estimate[1] < _VALUES_GROW * estimate[0]:
        return
    onset = int(np.argmax(np.abs(loss.y) > 10.0 * error[0]))
    yield Finding(
        id=identity,
        title=f"{values.name} grew from {estimate[0]:.3g} to {estimate[1]:.3g} and {loss.name} "
        f"from {error[0]:.3g} to {error[1]:.3g} while {reward.name} is {reward.y[-1]:.3g}, no "
        "better than at first: the estimates feed on themselves",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9),
        basis=Basis.OBSERVATION,
        evidence=(
            loss.evidence(onset, len(loss) - 1),
            values.evidence(0, len(values) - 1),
            reward.evidence(0, len(reward) - 1),
        ),
        first_step=loss.step(onset),
        details={"position": onset, "from": error[0], "to": error[1], "kind": "values"},
    )


def _reward(view: RunView) -> Curve | None:
    known = view.curve("reward")
    if known is not None:
        return known
    found = [c for c in view.all_curves() if _EARNED.fullmatch(normalise(c.name))]
    return max(found, key=lambda curve: len(normalise(curve.name)), default=None)


def _growth(curve: Curve) -> tuple[float, float] | None:
    """Sizes at the beginning and at the end, if it is largest at the end."""
    means: Floats = np.abs(curve.bins[2])
    if not np.isfinite(means).all():
        return None
    few = max(2, len(means) // 20)
    first, last = float(np.median(means[:few])), float(np.median(means[-few:]))
    is_largest = last >= 0.5 * float(np.max(means))
    return (max(first, 1e-12), last) if is_largest else None


def _earns_more(reward: Curve) -> bool:
    shape = shape_of(reward)
    if shape is None:
        return True
    few = max(2, len(shape.levels) // 5)
    gained = float(np.median(shape.levels[-few:]) - np.median(shape.levels[:few]))
    return gained > max(3 * shape.error, 0.05 * abs(float(np.median(shape.levels[:few]))))

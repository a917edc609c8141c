"""Agents that never get another reward than the first: nothing tells them what is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView

_LEAST_POINTS = 30


def never_rewarded(view: RunView, identity: str) -> Iterator[Finding]:
    """A mean reward that is the same at every point, before anything can have been learned."""
    reward = view.curve("reward")
    if reward is None or len(reward) < _LEAST_POINTS:
        return
    _, _, _, low, high, counts = reward.bins
    known = counts > 0
    value = float(reward.y[0])
    if not np.isfinite(value) or np.any(low[known] != value) or np.any(high[known] != value):
        return
    if value > 0:
        return  # every episode may reach the one reward that there is
    yield Finding(
        id=identity,
        title=f"{reward.name} is {value:.4g} at all {len(reward)} points: the agent never meets "
        "another reward, so nothing tells it what is better",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(reward.evidence(0, len(reward) - 1),),
        first_step=reward.step(0),
        details={"random": 1.0, "rewardless": 1.0},
    )

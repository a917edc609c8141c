"""Agents whose actions stay random whatever they learn."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView

_EXPLORATION = re.compile(
    r"(?:.* )?(?:exploration (?:rate|eps(?:ilon)?|fraction)|eps(?:ilon)?(?: greedy)?)"
)


def still_exploring(view: RunView, identity: str) -> Iterator[Finding]:
    """Most actions are random at the end as they were at the start, and will be."""
    reward = view.curve("reward")
    found = [c for c in view.all_curves() if _EXPLORATION.fullmatch(normalise(c.name))]
    if reward is None or not found or len(found[0]) < 20:
        return
    curve = found[0]
    half = curve.y[len(curve) // 2 :]
    if not np.isfinite(half).all() or float(half.min()) < 0.5 or float(half.max()) > 1.0:
        return
    if float(half[0] - half[-1]) > 0.02:
        return  # it is on its way down
    yield Finding(
        id=identity,
        title=f"{curve.name} stays at {half[-1]:.3g} over the second half of the run: most "
        f"actions are random, whatever is learned; {reward.name} is {reward.y[-1]:.4g}",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(
            curve.evidence(0, len(curve) - 1),
            reward.evidence(0, len(reward) - 1),
        ),
        first_step=curve.step(0),
        details={"random": 1.0, "exploring": float(half[-1])},
    )

"""Agents that had learned to earn, and then lost it for good."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mltd.runs.harvest import Floats, Ints

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.earned import earned
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView

BY_REWARD = "reward"
"""Detail of a loss that the reward shows."""
_LEAST = 30
_LEVELS = 20
_WON = 0.2
"""Share of what was earned at best that was not earned from the start,"""
_LOST = 0.7
"""share of it that is gone,"""
_OF_BEST = 0.5
"""of what was earned at best,"""
_FOR = 0.3
"""and for this share of the run: agents fall and get up again."""
_SURE = 6.0
"""Errors of a level."""


def lost_reward(view: RunView, identity: str) -> Iterator[Finding]:
    """A mean reward that rose, fell back to nothing and stays there."""
    curve = earned(view)
    if curve is None or len(curve) < _LEAST:
        return
    levels, starts = _levels(curve)
    late = int((1.0 - _FOR) * len(levels))
    top = int(np.argmax(levels[:late]))
    best, first = float(levels[top]), float(levels[0])
    after = levels[late:]
    now, gain = float(np.median(after)), best - min(first, float(np.min(levels[: top + 1])))
    error = curve.noise / np.sqrt(max(1.0, len(curve) / len(levels)))
    drop = best - now
    is_lost = drop > max(_LOST * gain, _OF_BEST * abs(best), _SURE * error)
    stays = float(np.max(after)) < best - 0.5 * drop
    # Who never earned more than at first has lost nothing: that is another finding.
    has_won = gain > max(_SURE * error, _WON * abs(best))
    if not (has_won and is_lost and stays):
        return
    fell = top + int(np.argmax(levels[top:] < best - 0.5 * drop))
    at = int(starts[fell])
    if view.facts.change_near(curve.step(at), 0.1 * float(curve.x[-1] - curve.x[0])) is not None:
        return  # what comes since may be harder to earn
    yield Finding(
        id=identity,
        title=f"{curve.name} was {best:.4g} and is {now:.4g} since {curve.axis_name} "
        f"{curve.step(at):.10g}: what the agent had learned is lost",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=(curve.evidence(int(starts[top])), curve.evidence(at, len(curve) - 1)),
        first_step=curve.step(at),
        details={BY_REWARD: 1.0, "from": best, "to": now},
    )


def _levels(curve: Curve) -> tuple[Floats, Ints]:
    """Medians of even parts of the curve, and where each begins."""
    _, _, means, _, _, counts = curve.bins
    places = np.flatnonzero(counts > 0)
    edges = np.linspace(0, len(places), min(_LEVELS, len(places)) + 1).astype(np.int64)
    pairs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    levels = [float(np.median(means[places[a:b]])) for a, b in pairs]
    starts = np.minimum(places[edges[:-1]] * curve.bin_width, len(curve) - 1)
    return np.array(levels), starts.astype(np.int64)

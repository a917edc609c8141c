"""Layers that say the same whatever they are asked, as a probe recorded it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.curve import Curve
from ..core.recording import LayerCurve, Recording, newest_recordings
from ..core.view import RunView

LEAST_RECORDS = 5
NOTHING_LEFT = 1e-3
"""Of what its units varied by before, or of what the layer before it varies by."""
DEAD = 0.7


@dataclass(frozen=True, slots=True)
class Collapse:
    """A layer whose units no longer vary from example to example."""

    layer: str
    curve: Curve
    before: float
    """How much they varied; 0 if they never did."""
    level: float
    first: int
    other: LayerCurve
    """A layer before it that still varies."""


def collapsed_layers(view: RunView) -> list[Collapse]:
    """The first such layer of each recorded model."""
    found = (_first_in(recording) for recording in newest_recordings(view))
    return [collapse for collapse in found if collapse is not None]


def _first_in(recording: Recording) -> Collapse | None:
    spreads = [s for s in recording.layers("act_unit_std") if len(s.curve) >= LEAST_RECORDS]
    for place, spread in enumerate(spreads):
        alive = _alive_before(spreads[:place])
        if alive is None:
            continue
        collapse = _judge(spread, alive, is_last=place == len(spreads) - 1)
        if collapse is not None:
            # A layer of dead units is constant, too, and so is all that is behind it.
            return None if _is_dead(recording, spreads[: place + 1]) else collapse
    return None


def _judge(spread: LayerCurve, alive: LayerCurve, *, is_last: bool) -> Collapse | None:
    values = spread.curve.y
    level, peak = _end(values), float(np.max(values[np.isfinite(values)], initial=0.0))
    # A layer that begins at 0 on purpose has no height to fall from, and rises.
    has_fallen = peak > 0 and level < NOTHING_LEFT * peak
    # Behind a tanh or softmax nothing varies by more than 1, whatever goes in.
    scale = min(1.0, _end(alive.curve.y))
    never_was = is_last and level < NOTHING_LEFT * scale
    if not has_fallen and not never_was:
        return None
    limit = NOTHING_LEFT * (peak if has_fallen else scale)
    above = np.flatnonzero(values >= limit)
    first = min(int(above[-1]) + 1, len(values) - 1) if len(above) else 0
    if len(values) - first < LEAST_RECORDS - 2:
        return None
    before = peak if has_fallen else 0.0
    return Collapse(spread.layer, spread.curve, before, level, first, alive)


def _end(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    tail = values[-max(3, len(values) // 4) :]
    finite = tail[np.isfinite(tail)]
    # Nearly all of them: a single example that still moves it does not bring it back.
    return float(np.quantile(finite, 0.8)) if len(finite) else float("nan")


def _alive_before(spreads: list[LayerCurve]) -> LayerCurve | None:
    """The nearest layer before that still varies; what got nothing can say nothing."""
    for spread in reversed(spreads):
        if _end(spread.curve.y) > 1e-6:
            return spread
    return None


def _is_dead(recording: Recording, spreads: list[LayerCurve]) -> bool:
    for spread in spreads:
        share = recording.of_layer("act_dead", spread.layer)
        if share is not None and len(share) and float(np.median(share.y[-3:])) >= DEAD:
            return True
    return False
